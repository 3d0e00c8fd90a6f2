"""What noise on all images does to disparities, at the FRR that a head costs.

A head that lowers BFAR and BFRR together and raises the FRR may do no more than noise. For
the people on whom the studies of EM-C and of heads are measured (``study_paper_grid.py``,
``study_kappa_grid.py`` and ``study_heads.py`` of ``examples/mitigation``), Gaussian noise is
added to all rows until the FRR is a stated multiple of that before, and the ratios of both
disparities are printed with their 95 % intervals over people, paired.

    python -m docs.studies.check_noise
"""

import runpy
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from docs.studies._command import run_command
from skfairfr import SimilarityROC
from skfairfr.model_selection._mitigations import Noise

STUDIES = Path(__file__).resolve().parents[2] / "examples" / "mitigation"
FAR = 1e-3
# FRR over that before: of the compromises in docs/evidence/paper_grid.rst; of EM-C with the
# residual head, of EM-FRR and EM-C with "mlp"; of "mlp" fitted on 500 people, with kappas
# 20, 20 and 45, 30, if people vary in 64 directions, in 33 and 43, or in 24.
COSTS = {
    "paper": (1.5, 1.8, 4.6),
    "kappas": (1.17, 5.46, 8.47),
    "heads 64": (9.8, 12.9),
    "heads 33, 43": (4.22, 6.3),
    "heads 24": (4.14, 7.22),
}
WORST = {"how": "max_min", "operating_point": "worst_group"}
QUESTIONS = {
    "BFAR": {"rate": "far", **WORST},
    "BFRR": {"rate": "frr", **WORST},
    "FRR": {"rate": "frr"},
}


def people(study):
    """Embeddings, identities and groups of the people whom no fit of a study has seen."""
    if study == "paper":
        made = runpy.run_path(str(STUDIES / "study_paper_grid.py"))
        return made["People"](0).unseen
    if study.startswith("heads"):
        made = runpy.run_path(str(STUDIES / "study_heads.py"))
        faces = made["draw"](study.removeprefix("heads "), 0)
        unseen = faces.y >= max(made["N_FITTED"])
        return faces.X[unseen], faces.y[unseen], faces.sensitive_features[unseen]
    made = runpy.run_path(str(STUDIES / "study_kappa_grid.py"))
    return made["draw"]()[1]


def main():
    for study, costs in COSTS.items():
        X, y, group = people(study)

        def measured(squared, X=X, y=y, group=group):
            rows = Noise(np.sqrt(squared), 0).transform(X)
            return SimilarityROC(method="jackknife").fit(rows, y, group)

        before = measured(0.0)
        frr = before.estimate(FAR).value
        print(f"{study}: {np.unique(y).size} people, FRR {frr:.4f} before")
        for cost in costs:

            def beyond(squared, asked=cost * frr, measured=measured):
                return measured(squared).estimate(FAR).value - asked

            after = measured(brentq(beyond, 0.0, 2.0, rtol=0.01))
            print(f"FRR x {cost}:", end="")
            for name, question in QUESTIONS.items():
                found = after.compare(before, FAR, **question)
                ends = f"{found.ratio_low:.2f}, {found.ratio_high:.2f}"
                print(f"  {name} x {found.ratio:.2f} [{ends}]", end="")
            print()


if __name__ == "__main__":
    run_command(main, __doc__)
