"""How Sphinx builds the documentation: `make docs`; nothing is asked of a network."""

import os
import sys
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # as `plab` does; must precede the first import of numpy

sys.path.insert(0, str(Path(__file__).parent))

import perceptron_lab

project = "perceptron_lab"
author = "The perceptron_lab developers"
release = version = perceptron_lab.__version__
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "from_code.extension",
]
exclude_patterns = [
    "_build",
    "examples",
    "notebooks",
    "gallery/**/*.ipynb",
    "**/sg_execution_times.rst",
]
default_role = "key"
smartquotes = False  # a' is a transposed
highlight_language = "python"

myst_enable_extensions = ["colon_fence", "dollarmath"]
html_math_renderer = "mathml"  # from_code.mathml
myst_heading_anchors = 3
autodoc_typehints = "none"  # docstrings say what is given, with shapes and ranges
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "from_code.gallery_order.InReadingOrder",
    "run_stale_examples": True,  # the code may have changed, if not the example
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "remove_config_comments": True,
    "capture_repr": ("__repr__",),
    "image_srcset": ["2x"],
    "image_scrapers": ("matplotlib", "from_code.figure_scraper.returned_figure"),
    "copyfile_regex": "",
    "nested_sections": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "perceptron_lab"
# Pages without others below them
_ALONE = ("index", "start", "concepts", "which-algorithm")
html_sidebars: dict[str, list[str]] = {page: [] for page in _ALONE}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 10,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
