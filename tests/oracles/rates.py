"""The slow twin of SimilarityROC: every rate by a plain loop over all pairs.

Written from the definitions of the papers alone (ROC24, CI24), without a look at the engine it is compared
with: no closed form, no sorting trick, no floating point where a fraction will do. A
rate is a ``Fraction``, or ``nan`` where its total weight is zero, so that the question
whether FAR exceeds a level has an exact answer. Meant for some dozens of images.
"""

import math
from collections import Counter, namedtuple
from fractions import Fraction

import numpy as np

# k, l identities; i, j images; a, b groups (None: unknown) of the first and second image
Pair = namedtuple("Pair", "score k l i j a b")
Scope = namedtuple("Scope", "impostor genuine copies")  # each a list of (pair, base)
NAN = float("nan")


def _labels(values, n):
    """Labels as a list; None, and NaN, mean unknown."""
    if values is None:
        return [None] * n
    values = [None if v is None or v != v else v for v in values]
    assert len(values) == n
    return values


def _times(multiplicities, key):
    """How often ``key`` was drawn. None, or a key a plain dict lacks: once."""
    if multiplicities is None:
        return 1
    if isinstance(multiplicities, dict) and not isinstance(multiplicities, Counter):
        return int(multiplicities.get(key, 1))
    return int(multiplicities[key])  # a Counter knows that a missing key means 0


def _quotient(x, y):
    """x / y with x/0 = inf and 0/0 = nan."""
    if x != x or y != y:
        return NAN
    if y == 0:
        return math.inf if x > 0 else NAN
    return x / y


class Oracle:
    """Build with `one_side`, `two_sides` or `listed`.

    In every method ``group`` is None (overall), a group ``a`` (both images in it) or
    a tuple ``(g, h)`` (cross-group, FAR only: one image in each; two sides: probe in g,
    reference in h). ``v`` maps identities to multiplicities. ``w`` holds those of the
    images: by index (one side), ``(w_p, w_r)`` (two sides), by label (listed). ``None``
    means "not resampled", which for ``diagonal=False`` is not the same as all ones.
    """

    def __init__(self, design, pairs, copies, dtype, average, impostors):
        assert average in ("pair", "identity")
        assert impostors in ("all", "same_group")
        self.totals, self.average, self.impostors = design, average, impostors
        self.pairs, self.copies, self.dtype = pairs, copies, dtype
        labels = {g for p in [*pairs, *copies] for g in (p.a, p.b) if g is not None}
        self.groups = sorted(labels, key=lambda g: (str(type(g)), g))
        self._scopes = {}

    @classmethod
    def one_side(cls, scores, identity, group=None, *, average="pair", impostors="all"):
        """Every image against every other; ``scores`` (n, n) with s(x, x) too."""
        scores = _floating(scores)
        y = list(identity)
        n = len(y)
        a = _labels(group, n)
        assert scores.shape == (n, n)
        pairs, copies = [], []
        for i in range(n):
            copies.append(Pair(float(scores[i, i]), y[i], y[i], i, i, a[i], a[i]))
            for j in range(i + 1, n):
                pairs.append(Pair(float(scores[i, j]), y[i], y[j], i, j, a[i], a[j]))
        return cls("one_side", pairs, copies, scores.dtype, average, impostors)

    @classmethod
    def two_sides(
        cls, scores, identity_p, identity_r, group_p=None, group_r=None,
        *, average="pair", impostors="all",
    ):  # fmt: skip
        """Every probe against every reference; ``scores`` (n_p, n_r)."""
        scores = _floating(scores)
        y, z = list(identity_p), list(identity_r)
        a, b = _labels(group_p, len(y)), _labels(group_r, len(z))
        assert scores.shape == (len(y), len(z))
        pairs = []
        for i in range(len(y)):
            for j in range(len(z)):
                pairs.append(Pair(float(scores[i, j]), y[i], z[j], i, j, a[i], b[j]))
        return cls("two_sides", pairs, [], scores.dtype, average, impostors)

    @classmethod
    def listed(
        cls, scores, identity_1, identity_2, group_1=None, group_2=None,
        image_1=None, image_2=None, *, average="pair", impostors="all",
    ):  # fmt: skip
        """The listed pairs and no others; ``scores`` (n_pairs,)."""
        scores = _floating(scores)
        n = len(scores)
        columns = [_labels(c, n) for c in (image_1, image_2, group_1, group_2)]
        rows = zip(identity_1, identity_2, *columns, strict=True)
        pairs = [Pair(float(s), *row) for s, row in zip(scores, rows, strict=True)]
        return cls("listed", pairs, [], scores.dtype, average, impostors)

    # ---- which pairs, with which base weight -------------------------------------

    def scope(self, group=None):
        """The pairs in scope, with the base weights of the original data."""
        if group not in self._scopes:
            self._scopes[group] = self._build_scope(group)
        return self._scopes[group]

    def _build_scope(self, group):
        pairs = [p for p in (self._admit(p, group) for p in self.pairs) if p]
        impostor = [p for p in pairs if p.k != p.l]
        genuine = [p for p in pairs if p.k == p.l]
        copies = [p for p in self.copies if self._admit(p, group)]
        if group is None and self.impostors == "same_group":
            impostor = [p for p in impostor if p.a is not None and p.a == p.b]
        if self.average == "pair":
            return Scope(*([(p, 1) for p in s] for s in (impostor, genuine, copies)))
        ordered = self.totals == "two_sides" or (
            self.totals == "one_side" and isinstance(group, tuple)
        )

        def between(p):
            return (p.k, p.l) if ordered else frozenset((p.k, p.l))

        m = Counter(between(p) for p in impostor)
        m_own = Counter(p.k for p in genuine)
        return Scope(
            [(p, Fraction(1, m[between(p)])) for p in impostor],
            [(p, Fraction(1, m_own[p.k])) for p in genuine],
            [(p, Fraction(1, m_own[p.k])) for p in copies if m_own[p.k]],
        )

    def _admit(self, p, group):
        """The pair as the scope sees it (turned round where need be), or None."""
        if group is None:
            return p
        g, h = group if isinstance(group, tuple) else (group, group)
        if (p.a, p.b) == (g, h):
            return p
        if self.totals != "two_sides" and (p.b, p.a) == (g, h):
            return Pair(p.score, p.l, p.k, p.j, p.i, p.b, p.a)
        return None

    def n_images(self, k):
        """All images of identity k, in whatever group (one side)."""
        return sum(p.k == k for p in self.copies)

    # ---- what a pair weighs in a resample ----------------------------------------

    def _image_times(self, w, p):
        if w is None:
            return 1, 1
        if self.totals == "two_sides":
            return _times(w[0], p.i), _times(w[1], p.j)
        assert p.i is not None and p.j is not None, "resampling images needs labels"
        return _times(w, p.i), _times(w, p.j)

    def weighted_impostors(self, group=None, v=None, w=None):
        """List of (score, weight): v_k v_l w_i w_j times the base weight."""
        out = []
        for p, base in self.scope(group).impostor:
            wi, wj = self._image_times(w, p)
            times = _times(v, p.k) * _times(v, p.l) * wi * wj
            out.append((p.score, base * times))
        return out

    def weighted_genuine(self, group=None, v=None, w=None, diagonal=True):
        """List of (score, weight): v_k w_i w_j times the base weight, and the copies.

        ``diagonal=False``: no copies, and base weights times n_k/(n_k - 1), the inverse
        of E[w_i w_j]; n_k counts all images of k, since all of them are drawn from.
        """
        if isinstance(group, tuple):
            raise ValueError("FRR has no cross-group scope")
        scope = self.scope(group)
        one_side_images = self.totals == "one_side" and w is not None
        out = []
        for p, base in scope.genuine:
            wi, wj = self._image_times(w, p)
            if one_side_images and not diagonal:
                n = self.n_images(p.k)
                base = base * Fraction(n, n - 1)
            out.append((p.score, base * (_times(v, p.k) * wi * wj)))
        if one_side_images and diagonal:
            for p, base in scope.copies:
                wi = _times(w, p.i)
                out.append((p.score, base * (_times(v, p.k) * (wi * (wi - 1) // 2))))
        return out

    # ---- rates, thresholds -------------------------------------------------------

    def far(self, t, group=None, v=None, w=None):
        """Weight of the impostor pairs with score >= t over that of all."""
        return _rate(self.weighted_impostors(group, v, w), t, accepted=True)

    def frr(self, t, group=None, v=None, w=None, diagonal=True):
        """Weight of the genuine pairs with score < t over that of all."""
        return _rate(self.weighted_genuine(group, v, w, diagonal), t, accepted=False)

    def threshold(self, level, group=None, v=None, w=None):
        """Next above the largest impostor score at which FAR exceeds the level.

        -inf where none does, nan where FAR is 0/0. A level 0.01 means 1/100.
        """
        level = Fraction(str(level))
        weighted = _in_whole_numbers(self.weighted_impostors(group, v, w))
        if sum(weight for _, weight in weighted) == 0:
            return NAN
        for score in sorted({s for s, _ in weighted}, reverse=True):
            if _rate(weighted, score, accepted=True) > level:
                up = self.dtype.type(math.inf)
                return float(np.nextafter(self.dtype.type(score), up))
        return -math.inf

    def operating_thresholds(self, level, operating_point="overall", v=None, w=None):
        """Threshold of each group, and of None (overall).

        "worst_group": the largest of the groups' thresholds that are defined. "group":
        each group its own; overall the overall one.
        """
        own = {g: self.threshold(level, g, v, w) for g in [None, *self.groups]}
        if operating_point == "group":
            return own
        if operating_point == "overall":
            return dict.fromkeys(own, own[None])
        assert operating_point == "worst_group"
        defined = [own[g] for g in self.groups if own[g] == own[g]]
        return dict.fromkeys(own, max(defined) if defined else NAN)

    # ---- expectation over the image bootstrap ------------------------------------

    def v_statistic_frr(self, t, group=None):
        """FRR~ = E*[numerator] / E*[denominator] under resampling of images.

        From the multinomial moments E[w_i w_j] = E[w_i (w_i - 1)] = 1 - 1/n_k, with n_k
        all images of k. Two sides (E[w_i w_j] = 1) and listed pairs (by the convention
        that theta~ is theta of a list): the plain FRR.
        """
        if self.totals != "one_side":
            return self.frr(t, group)
        weighted = []
        for p, base in self.scope(group).genuine:
            weighted.append((p.score, base * (1 - Fraction(1, self.n_images(p.k)))))
        for p, base in self.scope(group).copies:
            weighted.append((p.score, base * (1 - Fraction(1, self.n_images(p.k))) / 2))
        return _rate(weighted, t, accepted=False)

    # ---- what the class reports --------------------------------------------------

    def counts(self, group=None):
        """(n_genuine, n_impostor): unweighted pairs in scope."""
        scope = self.scope(group)
        return len(scope.genuine), len(scope.impostor)

    def disparity(self, rates, how, ddof=0):
        """A disparity by name. ``rates``: a sequence or the values of a dict.

        "ratio" takes two, (x_a, x_b), and gives x_b / x_a. Fewer than two: nan.
        """
        x = list(rates.values()) if isinstance(rates, dict) else list(rates)
        if len(x) < 2 or any(r != r for r in x):
            return NAN
        x = [Fraction(r) for r in x]
        m, mean = len(x), sum(x) / len(x)
        if how == "max_min":
            return float(_quotient(max(x), min(x)))
        if how in ("max_geomean", "log_geomean"):
            if min(x) == 0:  # the geometric mean is 0
                return math.inf if max(x) > 0 else NAN
            logs = [math.log10(r) for r in x]
            centre = math.fsum(logs) / m
            if how == "max_geomean":
                return 10 ** (max(logs) - centre)
            return math.fsum(abs(r - centre) for r in logs)
        if how == "gini":
            spread = sum(abs(r - s) for r in x for s in x)
            return float(_quotient(spread * m, (m - 1) * 2 * m**2 * mean))
        if how == "difference":
            return float(max(x) - min(x))
        if how == "std":
            return math.sqrt(sum((r - mean) ** 2 for r in x) / (m - ddof))
        assert how == "ratio" and m == 2
        return float(_quotient(x[1], x[0]))

    def replicate(
        self, *, level=None, threshold=None, rate="frr", group=None, how=None,
        operating_point="overall", v=None, w=None, diagonal=True,
    ):  # fmt: skip
        """The number one resample gives (v = w = None: the point value), as a float.

        ``how``: a disparity by name, or ("ratio", a, b); groups that lack the pairs
        in the original data are left out, undefined in the resample gives nan.
        """
        assert (level is None) != (threshold is None)
        assert group is None or how is None
        if threshold is not None:
            at = dict.fromkeys([None, *self.groups], threshold)
        else:
            at = self.operating_thresholds(level, operating_point, v, w)

        def one(g):
            if isinstance(g, tuple):
                assert rate == "far" and operating_point != "group"
                return self.far(at[None], g, v, w)
            if rate == "far":
                return self.far(at[g], g, v, w)
            return self.frr(at[g], g, v, w, diagonal)

        if how is None:
            return float(one(group))
        groups = self.groups
        if isinstance(how, tuple):
            how, *groups = how
        needs_genuine = rate == "frr"
        own_threshold = level is not None and operating_point == "group"
        needs_impostor = rate == "far" or own_threshold
        for g in groups:
            n_genuine, n_impostor = self.counts(g)
            if (needs_genuine and not n_genuine) or (needs_impostor and not n_impostor):
                groups = [h for h in groups if h != g]
        return self.disparity([one(g) for g in groups], how)

    def support(self, t, rate="frr", group=None):
        """(errors, identities in them, largest share of errors touching one)."""
        if rate == "far":
            errors = [p for p, _ in self.scope(group).impostor if p.score >= t]
        else:
            errors = [p for p, _ in self.scope(group).genuine if p.score < t]
        touched = Counter(k for p in errors for k in {p.k, p.l})
        share = Fraction(max(touched.values()), len(errors)) if errors else Fraction(0)
        return len(errors), len(touched), share


def _floating(scores):
    scores = np.asarray(scores)
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def _in_whole_numbers(weighted):
    """The weights times their common denominator: every rate is the same, and quicker."""
    common = math.lcm(*(weight.denominator for _, weight in weighted))
    return [(score, int(weight * common)) for score, weight in weighted]


def _rate(weighted, t, *, accepted):
    """Share of the weight that is accepted (score >= t), or rejected."""
    total = sum(weight for _, weight in weighted)
    if total == 0 or t != t:
        return NAN
    t = float(t)
    return Fraction(sum(x for s, x in weighted if (s >= t) == accepted)) / total
