"""Sphinx settings of the site; ``python docs/build.py`` builds it without a network."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

import skfairfr  # noqa: E402

project = "skfairfr"
author = "The skfairfr developers"
copyright = "The skfairfr developers, BSD 3-Clause"
version = release = skfairfr.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "_ext.directives",
    "_ext.mathml",
    "_ext.public_names",
    "_ext.layers",
]
exclude_patterns = ["_build", "**sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True
# Names of other packages, and of the standard library: without a network there is no
# inventory to link them with.
nitpick_ignore_regex = [
    (r"py:.*", rf"({package})(\..*)?")
    for package in (
        "sklearn|numpy|torch|matplotlib|dataclasses|pandas|skorch",
        "NotFittedError|ValueError|TypeError|ImportError|UserWarning",
    )
]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# Whatever order files are found in, a reader follows this one.
THEMES = ["evaluation", "uncertainty", "mitigation", "model_selection", "scale"]
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"(^|[\\/])(?!plot_)\w+\.py$",
    "subsection_order": [f"../examples/{theme}" for theme in THEMES] + ["*"],
    "within_subsection_order": "_ext.reading_order.ReadingOrder",
    "capture_repr": (),
    "doc_module": ("skfairfr",),
    "reference_url": {"skfairfr": None},
    "backreferences_dir": "auto_examples/backreferences",
    "abort_on_example_error": True,
    "reset_modules": (
        "matplotlib",
        "_ext.example_file.tell",
        "_ext.story_rules.keep",
    ),
    "reset_modules_order": "both",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "min_reported_time": 5,
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
}
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "skfairfr"
html_static_path = ["_static"]
html_css_files = ["skfairfr.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "skfairfr"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
ALONE = ("index", "install", "quick_start", "whats_new", "citing")
html_sidebars = {page: [] for page in ALONE}
