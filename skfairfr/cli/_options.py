"""The table of all options: one row has a flag, its value and its meaning."""

# A title of the help and the commands that have the options below it: each a flag, the name
# of its value and, after two spaces, its meaning. One without a value is a switch. After the
# value " ..." means several files, ",..." a list with commas.
OPTIONS = """
options: audit explain
data DATA  embeddings (.npz, .npy), scored pairs (.csv, .tsv, .parquet, those of bob) or a log of
  decisions
options: threshold
data DATA  embeddings (.npz, .npy), or scored pairs (.csv, .tsv, .parquet, those of bob)
options: identify
data PROBES  embeddings (.npz, .npy), one row for each search, or with --candidates a table of
  the searches
options: compare
before BEFORE  data of the first system, as of audit
more AFTER ...  those of another system, of the same images, or of several; BEFORE alone has columns
  of several, --score A,B
options: monitor
log LOG  table of decisions (.csv, .tsv, .csv.gz, .tsv.gz, .parquet), one row an attempt
options: bench
data DATA  embeddings (.npz, .npy), one row for each image

options: audit identify compare threshold plan monitor bench explain
--attribute COLUMN  column of the groups; of pairs what two share (COLUMN_1 and COLUMN_2), or
  A,B; of numbers COLUMN:4 or COLUMN:18,30 (default: no groups, rates of everyone); may be repeated, for
  combinations too
options: audit
--control COLUMN[:K[:gap]]  covariate at equal values of which rates are shown too: COLUMN of
  categories, COLUMN:K for K quantiles of a number (of two images the lower), COLUMN:K:gap of
  its difference; may be repeated, for strata of several
--label-errors FILE  counts of people with known groups (.csv): a row for each true group, a column for
  each label; rates are corrected for wrong labels; may be repeated, one of each attribute
--label-error-rate P  bounds of rates if at most this share of each group's labels is wrong
options: audit identify explain
--covariate COLUMN  column of a covariate at equal values of which rates are compared, in an audit
  too: numbers as a curve, others, and numbers of up to ten values, as categories; may be repeated
options: explain
--curve COLUMN  column of a number, such as age, over which rates are shown too; may be repeated
--interaction A,B  two attributes, rates of whose combinations are compared too; may be repeated
options: audit identify explain
--reference GROUP  group to compare with (default: that with the most people); may be repeated,
  one of each attribute
options: audit compare plan explain
--failures {reject,report,error}  what becomes of missing scores, NaN or zero embeddings,
  attempts without capture
options: plan
--pilot FILE  data as audit reads them, whose errors show how they depend on each other
options: monitor
--state FILE  file that keeps what is known for the next log; made if there is none
options: bench
--other COLUMN  column of another attribute, whose larger disparities are flagged; may be repeated
--methods NAME,...  methods to try (default: all whose libraries are installed); one that is
  unknown lists those that are known
--method NAME=MODULE:FACTORY  a method of your own, alone or with --methods, by a class or
  function that gives a transformer or comparator when called without arguments, as --method
  mine=package.module:MyTransformer; with it no fit is kept in --out; may be repeated
options: audit identify compare threshold monitor bench demo explain
--out DIR  folder that the page, JSON, tables and figures are written to, all at once
--replace  replace an older report in the folder of --out
--format {text,json,html,card,junit}  what is printed (default: text)
options: audit identify compare threshold bench demo explain
--seed SEED  of all that is random (default: 0)
options: audit identify compare threshold bench demo
--n-jobs JOBS  workers of joblib (default: one process, which uses all cores)
options: audit identify compare threshold plan monitor bench demo explain
--quiet  no progress shown
options: audit identify compare threshold monitor demo explain
--full  print all sections, and not a summary alone
options: audit identify compare
--csv-dialect {comma,semicolon}  of tables: comma (default), or ; and decimal commas

further files: audit identify compare threshold plan bench explain
--metadata FILE  table of attributes of the people, or of the images
--on COLUMN  column of --metadata that names them
--image COLUMN  column that names the images, as trials do (default: image); compare pairs rows
  by it (default: in their order) and leaves out images that a system lacks
further files: audit compare threshold plan explain
--trials FILE  list of the pairs to compare, or of their scores
--probes FILE  labels of the rows of a matrix of scores (.npy, .npz), a table
--references FILE  those of its columns (default: the same images, each two one pair)
--enrolment LIST|COLUMN  list of templates (name: image image ...), or column that marks the
  images enrolled, all those of a person as one template
further files: audit identify compare threshold plan explain
--template {image,mean,max}  what is enrolled of each person: in searches one image (default),
  the mean of all (default of --enrolment), or all of them, of which the best counts

embeddings: audit identify compare threshold plan bench explain
--embedding NAME  array of the embeddings, in audit and compare also A,B of several systems (default:
  embedding or X)
embeddings: audit identify compare threshold plan monitor bench explain
--identity COLUMN  column of the people (default: identity or y, in a log also person)
embeddings: audit identify compare threshold plan bench explain
--labels FILE  table of the labels, one row for each image (default: those in the .npz file, or
  next to the .npy file)
embeddings: audit compare threshold plan explain
--domain COLUMN  column with two values, such as selfie and document: only pairs across them are
  compared
embeddings: audit
--fte COLUMN  column that marks rows without a template: fte (or 1) if enrolment failed,
  fta if acquisition failed, else 0 or empty; they are counted by group

scores: audit identify compare threshold plan explain
--score COLUMN  column of the scores, in audit and compare also A,B of several systems (default:
  score or distance)
--distance  scores are distances, smaller meaning more similar
scores: audit compare threshold plan explain
--identity-1 COLUMN  column of the first image's person
--identity-2 COLUMN  column of the second image's person
--image-1 COLUMN  column that names the first image
--image-2 COLUMN  column that names the second image
--layout NAME  layout of a list without names of columns, if its content leaves it open
scores: audit threshold explain
--y-true COLUMN  column that marks genuine pairs, instead of people: pairs are then independent
  (default: y_true, label, same, …)
scores: audit compare threshold plan explain
--mated-only  all pairs are meant to be genuine: FNMR alone is measured
scores: audit identify compare threshold plan explain
--non-mated-only  no pair, or search, is meant to be genuine: FMR, or FPIR, alone is measured

logs of decisions: audit compare plan monitor explain
--accepted COLUMN  column that marks accepted attempts: the data are a log of decisions (default of
  monitor: accepted)
--attempt COLUMN  column of kinds: genuine, impostor or attack (default: all are genuine)
logs of decisions: audit compare plan explain
--species COLUMN  column of the instrument of an attack: APCER is by species. Without --accepted
  the data are scores of attack detection
logs of decisions: audit
--bpcer LEVEL,...  BPCER at which thresholds of such scores are set, the first for the decisions
  (default: 0.05,0.01)
logs of decisions: audit compare plan explain
--session COLUMN  column of the session of an attempt, with --best-of
--best-of K  rates of transactions: the first K attempts of a person in a session
logs of decisions: audit compare plan monitor explain
--time COLUMN  column of the time, as 2026-01-31T10:00 or a number (default: rows in their order)
--dates {day-first,month-first}  how --time, and attributes in ranges, have 31.01.2026 or
  01/31/2026 (default: as 2026-01-31)
logs of decisions: plan
--attempts-per-person N  of everybody on average, without a log too (default: as in the log)
logs of decisions: audit compare explain
--no-people  nobody is known, and attempts are taken as independent
logs of decisions: compare
--kind {frr,far,bpcer,apcer}  whose errors are compared (default: the one kind of the logs)
logs of decisions: monitor
--attempts K  first attempts of a person that make one value (default: 1); more only if nobody
  tries again because of a rejection

searches (1:N): identify compare threshold explain
--gallery GALLERY  embeddings of those who are enrolled or, with --candidates, a table of them;
  the other data are of those who search
--gallery-labels FILE  as --labels, of the gallery
--rank N  a mated search succeeds if the mate is among the top N (default: 1)
--candidates LIST  instead of embeddings: lists (search, candidate, score), or a matrix (.npy,
  .npz) of scores
--search COLUMN  column that names the searches, in LIST and in the table of the searches (default:
  search, probe, query, …)
--candidate COLUMN  column of who was returned (default: candidate)
--listed-from S  score from which on lists have all candidates, if that is known

operating points: audit compare plan bench explain
--fmr LEVEL,...  FMR levels to operate at (default: 1e-2,1e-3 and 1e-4 where two groups of
  every attribute have 300,000 impostor pairs)
operating points: plan
--fnmr RATE  the smaller FNMR, of ratios and of --detect-factor (default: the pilot's, or 0.01)
operating points: identify compare explain
--fpir LEVEL,...  FPIR levels to operate at (default: 1e-2,1e-3)
operating points: audit identify compare plan explain
--threshold T  score from which on a deployed system accepts, or alarms (of distances, up to
  which), instead of levels
operating points: audit
--threshold-from OTHER  file like DATA, on which the levels set thresholds
--threshold-group LABEL  group whose FMR meets the levels, instead of that of all impostor pairs:
  a label of an attribute, or of several together as 'f & young'
operating points: audit compare
--p-target P,...  show detection costs (minDCF) at these shares of genuine pairs
--llr  scores are log-likelihood ratios: Cllr, actual costs

limits: audit identify threshold monitor plan
--policy FILE_OR_NAME  file (.toml) of levels, limits, confidence and attributes, which must not
  be given too; or the name of one that is shipped
limits: audit identify
--list-policies  print the names of the shipped policies, and exit
limits: audit threshold plan explain
--max-fmr RATE  largest FMR allowed of each group
limits: audit threshold monitor plan explain
--max-fnmr RATE  largest FNMR allowed of each group
limits: audit plan
--max-fmr-ratio X  largest over smallest FMR of the groups
limits: audit plan monitor
--max-fnmr-ratio X  largest over smallest FNMR of the groups
limits: audit
--max-fmr-geomean-ratio X  FMR over the groups' geometric mean, at most
--max-fnmr-geomean-ratio X  FNMR over the groups' geometric mean, at most
--max-bfar X  largest over smallest FMR (BFAR), with the threshold set where no group's FMR
  exceeds the level
--max-bfrr X  largest over smallest FNMR (BFRR), there
--max-dcf X  largest detection cost allowed at each --p-target
--max-cllr X  largest Cllr allowed; requires --llr
limits: identify threshold plan explain
--max-fpir RATE  largest FPIR allowed of each group
limits: identify threshold explain
--max-fnir RATE  largest FNIR allowed of each group
limits: identify
--max-fpir-ratio X  largest over smallest FPIR of the groups
--max-fnir-ratio X  largest over smallest FNIR of the groups
--max-fpir-geomean-ratio X  largest FPIR over the geometric mean
--max-fnir-geomean-ratio X  largest FNIR over the geometric mean
limits: threshold
--own  a threshold for each group instead, which share the chance of a wrong one
limits: compare
--baseline  BEFORE is in use, and the others are to replace it: higher rates are harm
--fail-on-harm  the same, and exit with status 1 if a rate of a group is higher, and 3 if that is
  undetermined

the test: plan
--detect-factor X  detect that one group's rate is X times another's
--rate {fmr,fnmr}  what --detect-factor is about (default: fmr)
--assumed SHARE  what is true, of the way from no error, or from equal groups, to the limit;
  above 1, to show that a group exceeds the limit (default: 0.5)
--groups N  number of groups (default: the pilot's, or 2)
--images-per-person N  images of everybody (default: 2)
--comparisons N  tests of groups that share the error rate (default: those of an audit of both
  rates at its levels)
--power P  probability with which the answer is to be got (default: 0.8)

measurement: audit compare
--average {pair,identity}  what weighs the same (default: pair)
--impostors {all,same_group}  pairs whose FMR sets the threshold (default: all)
measurement: audit identify compare threshold plan monitor bench explain
--confidence-level P  of intervals, bounds and verdicts (default: the policy's, or 0.95)
measurement: bench
--metric {bfar,bfrr,fnmr_at_fmr,fmr_max_geomean,fnmr_max_geomean},...  what is to fall, and what
  parameters are chosen by along with it (default: bfar,fnmr_at_fmr)
--max-cost FACTOR  a method wins only if its FNMR is at most this times that of doing nothing,
  and its parameters are chosen within it; inf allows any (default: 1.25)
--splits SPLITS  splits of the people; everybody is judged in one (default: 5)
--inner-splits SPLITS  splits that parameters are chosen by (default: 3)

printed on the report and kept in its JSON: audit identify compare threshold monitor explain
--title TEXT  title of the report
--system TEXT  what was tested, with its version
--dataset TEXT  what it was tested on
--organisation TEXT  who tested
--tested DAY  when it was tested
--labels-source TEXT  where the groups come from
--sampling TEXT  how people were chosen
--date DAY  when the report was written (default: today)
"""

# A command for which options differ and the reason; what begins with ; is added to a meaning.
EXCEPTIONS = """
bench: one disparity is to fall
--attribute COLUMN  column of the groups whose disparity is to fall; required
bench: methods are compared at one level
--fmr LEVEL  FMR level to operate at (default: 0.001)
bench: it leaves other files
--out DIR  folder that bench.json, bench.txt, the figure (SVG, PNG), finished fits, from which
  the same command goes on, and the fitted winner are written to
--format {text,json}  what is printed (default: text)
compare: a card is of one system
--format {text,json,html,junit}  what is printed (default: text)
compare: each system may have its own
--threshold T  ; may be repeated, for each system in their order
explain: combinations are asked for
--attribute COLUMN  column of the groups; of pairs what two share (COLUMN_1 and COLUMN_2), or
  A,B; of numbers COLUMN:4 or COLUMN:18,30; may be repeated, and at least one is needed
--reference GROUP  group to compare with (default: that with the most comparisons); may be repeated,
  one of each attribute
explain: one threshold explains all errors
--fmr LEVEL  FMR level to operate at (default: 0.001)
--fpir LEVEL  FPIR level to operate at (default: 0.001)
explain: its result is one for all groups
--format {text,json,html}  what is printed (default: text)
--max-fmr RATE  largest FMR allowed at every value of --curve
--max-fnmr RATE  largest FNMR, or FRR of a log, allowed at every value of --curve
--max-fpir RATE  largest FPIR allowed at every value of --curve
--max-fnir RATE  largest FNIR allowed at every value of --curve
identify: it measures nothing else
--gallery GALLERY  ; required
monitor: a log is watched by one attribute
--attribute COLUMN  column of the groups; required unless the policy names one
monitor: a log has attempts
--max-fnmr RATE  ; of attempts it is the FRR
--max-fnmr-ratio X  ; of attempts it is the FRR
monitor: its result is one for all groups
--format {text,json,html}  what is printed (default: text)
plan: levels are assumed, and nothing operates at them
--fmr LEVEL,...  the smaller FMR, of ratios and of --detect-factor (default: 0.001)
threshold: its result is one for all groups
--format {text,json,html}  what is printed (default: text)
threshold: the FMR, or the FPIR, decides which thresholds there are
--max-fmr RATE  ; required unless the policy, or --max-fpir of searches, has the limit
--max-fnmr RATE  ; requires --max-fmr
--max-fnir RATE  ; requires --max-fpir
"""

# Options whose arguments have other names, and values of those that no function has.
ARGUMENTS = {
    "fmr": "far",
    "fnmr": "frr",
    "metric": "metrics",
    "covariate": "explain_by",
    "splits": "n_splits",
    "groups": "n_groups",
}

DEFAULTS = {"format": "text", "rate": "fmr", "seed": 0, "more": []}

# Options that have a short form.
SHORT = {"--attribute": "-a", "--out": "-o", "--quiet": "-q"}

SHORT_FLAGS = {short: flag for flag, short in SHORT.items()}

# Options of measurements that --help leaves out, and --help-all has.
RARE = {
    *("fte", "image", "probes", "references", "layout", "mated_only", "non_mated_only"),
    *("enrolment", "template"),
    *("attempt", "species", "bpcer", "session", "best_of", "time", "dates", "control"),
    "covariate",
    *("no_people", "label_errors", "label_error_rate"),
    *("threshold_group", "max_fmr_geomean_ratio", "max_fnmr_geomean_ratio", "average"),
    *("impostors", "seed", "n_jobs", "labels_source", "sampling", "dataset"),
    *("organisation", "tested", "date"),
}

# How options repeat: in compare those under some titles do, but for some.
AGAIN = "may be repeated"

OF_A_SYSTEM = ("further files", "embeddings", "scores", "searches (1:N)")

OF_A_SYSTEM += ("logs of decisions",)

SHARED = {"template", "rank", "kind", "best_of", "dates"}


def rows_of(table):
    """Words of a heading, and flag, value and meaning of each option below it."""
    heading = ()
    for line in filter(None, table.replace("\n  ", " ").split("\n")):
        option, spaces, meaning = line.partition("  ")
        if spaces:
            flag, _, value = option.partition(" ")
            yield *heading, flag, value, meaning
        else:
            heading = line.rsplit(": ", 1)
