"""The order in which the stories of a theme are best read."""

STORIES = (
    # evaluation
    "plot_groups.py",
    "plot_operating_points.py",
    "plot_clusters.py",
    "plot_identification.py",
    # uncertainty
    "plot_resampling.py",
    "plot_recentering.py",
    "plot_roc_bands.py",
    "plot_disparity_bands.py",
    "plot_least_uncertain.py",
    # mitigation
    "plot_geometry.py",
    "plot_vmf.py",
    "plot_kappa_grid.py",
    "plot_kappa_moves.py",
    "plot_paper_grid.py",
    "plot_paper_thresholds.py",
    "plot_heads.py",
    "plot_comparators.py",
    "plot_bench.py",
    "plot_fpr_penalty.py",
    "plot_group_matrix.py",
    "plot_group_sampling.py",
    "plot_hierarchy.py",
    # model_selection
    "plot_search.py",
    # scale
    "plot_memory_map.py",
)


class ReadingOrder:
    """sphinx-gallery's key of a file among those of its folder."""

    def __init__(self, src_dir):
        self.src_dir = src_dir

    def __call__(self, filename):
        if filename not in STORIES:
            raise ValueError(
                f"{filename} in {self.src_dir} has no place in the reading order; add it "
                "to STORIES in docs/_ext/reading_order.py."
            )
        return STORIES.index(filename)

    def __repr__(self):
        return "<ReadingOrder>"
