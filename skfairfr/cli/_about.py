"""Purpose of the commands: a line and help of each, examples, exit statuses."""

# Exit statuses of all commands, and what else some of them have.
STATUS = {
    0: "done",
    2: "unusable input, or too little memory or disk",
    4: "a fault of the program",
    130: "interrupted",
}

OF_CHECKS = {
    0: "done, and every check passed",
    1: "a check failed",
    3: "no check failed, and the data do not show whether one passes",
}

OWN_STATUS = {
    "audit": OF_CHECKS,
    "identify": OF_CHECKS,
    "compare": {
        1: "with --fail-on-harm: a rate of a group is higher",
        3: "with --fail-on-harm: undetermined",
    },
    "threshold": {
        0: "a threshold keeps the limits for every group",
        1: "no threshold keeps both limits",
        3: "the data do not show such a threshold",
    },
    "explain": OF_CHECKS,
    "monitor": {
        0: "no limit is known to be exceeded",
        1: "this or an earlier log exceeds a limit",
    },
}

# Why a bench accepts no list of trials.
ALL_PAIRS = (
    "A bench compares all pairs of held-out people, so it accepts no list of trials."
)

# A heading of the help and its commands, in the order of work.
GROUPS = {
    "Measure": "demo audit identify compare explain",
    "Decide": "plan threshold monitor",
    "Reduce": "bench",
}

# What every command is about: in a line, in its help, and three examples.
COMMANDS = {
    "audit": (
        "error rates by group: embeddings, scored pairs, decision logs",
        """\
Error rates by group and their disparities, with intervals, from embeddings, scored pairs or a log
of decisions; without --attribute the rates of everyone.""",
        """\
skfairfr audit pairs.csv -a gender --fmr 1%,0.1% -o report
skfairfr audit faces.npz -a gender -a age:18,30 --max-fmr-ratio 2
skfairfr audit log.csv --accepted accepted -a age:18,65 --max-fnmr 5%""",
    ),
    "identify": (
        "error rates of searches of a gallery (1:N) by group",
        """\
Error rates of searches (1:N) by group, with intervals: FPIR, the share of searches by people who
are not enrolled that raise a false alarm, and FNIR, the share of searches by enrolled people that
miss the mate.""",
        """\
skfairfr identify probes.npz --gallery gallery.npz -a gender
skfairfr identify probes.npz --gallery gallery.npz --fpir 0.1% --max-fnir 10%
skfairfr identify probes.csv --gallery people.csv --candidates lists.csv -a sex""",
    ),
    "compare": (
        "what another system changes for each group, on the same people",
        """\
For which groups the rates of another system are higher or lower than those of BEFORE, on the same
people: rates and disparities with paired intervals, and one family of tests. With --gallery,
searches (1:N) are compared; with --accepted logs of decisions, whose people need not be the same;
without --attribute the rates of everyone.""",
        """\
skfairfr compare before.npz after.npz -a gender --fail-on-harm
skfairfr compare pairs.csv --score old,new -a gender -o report
skfairfr compare june.csv july.csv --accepted accepted -a age:18,65""",
    ),
    "explain": (
        "whether differences between groups remain at equal covariates",
        """\
Error rates of groups at a threshold over those of a reference, as they are and at equal covariates
(age, quality, camera), by one logistic regression of each rate.""",
        """\
skfairfr explain faces.npz -a gender --covariate quality --covariate camera
skfairfr explain pairs.csv -a gender --covariate age --threshold 0.5
skfairfr explain log.csv --accepted ok -a gender --covariate device""",
    ),
    "plan": (
        "number of people that a conclusive test needs",
        """\
How many people per group a test needs: to certify that every group's FMR or FNMR is within a
limit, to detect that two groups' rates differ by a factor, or to show that all ratios of rates
are within a limit. Each number is given as if pairs were independent, and with errors that
depend on each other as a pilot shows.""",
        """\
skfairfr plan --max-fmr 0.1% --groups 4
skfairfr plan --detect-factor 2 --fmr 1e-3 --images-per-person 4
skfairfr plan --pilot faces.npz -a gender --max-fmr-ratio 1.5""",
    ),
    "threshold": (
        "a threshold at which every group keeps a limit",
        """\
The loosest threshold at which the FMR of every group, or the FPIR of searches, is within a limit,
also for new people, with a stated confidence. Reports the cost for each group, or how many more
people are needed.""",
        """\
skfairfr threshold faces.npz -a gender --max-fmr 0.1%
skfairfr threshold pairs.csv -a gender --max-fmr 1e-3 --max-fnmr 5% -o report
skfairfr threshold probes.npz --gallery gallery.npz -a sex --max-fpir 1%""",
    ),
    "monitor": (
        "limits checked in every new log of a system in operation",
        """\
Monitor false rejection rates by group over successive logs of decisions. Two audits are made: of
people's first attempts in all logs, and of each log on its own. With --state the probability of any
false alarm is at most 5 %, or 1 - the confidence level of the policy, however often you check.""",
        """\
skfairfr monitor june.csv -a gender --state door.state --max-fnmr-ratio 2
skfairfr monitor july.csv -a gender --state door.state --max-fnmr-ratio 2
skfairfr monitor log.csv -a age:18,65 --max-fnmr 5% --format json""",
    ),
    "bench": (
        "which mitigation lowers a disparity, and at what cost",
        """\
Which mitigation lowers a disparity on these embeddings, and at what cost, or that none does. Every
method is fitted on some people, measured on held-out people, and compared there with doing nothing.""",
        """\
skfairfr bench faces.npz -a gender -o bench
skfairfr bench faces.npz -a gender --fmr 1e-2 --metric bfrr,fnmr_at_fmr
skfairfr bench faces.npz -a gender --methods as-norm,WCCN --n-jobs 2""",
    ),
    "demo": (
        "an audit of synthetic embeddings, in 20 seconds",
        "Audit synthetic embeddings of two groups that differ on purpose, with a limit.",
        """\
skfairfr demo
skfairfr demo -o report --replace
skfairfr demo --seed 3 --format json""",
    ),
}
