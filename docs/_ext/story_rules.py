"""Stories run with warnings as errors and leave no file behind.

sphinx-gallery calls the function below before and after each story, and one process runs
all of them: what one story changes, the next must not see.
"""

import sys
import warnings
from pathlib import Path

from sphinx.errors import ExtensionError

_before = {}


def _files(folder):
    return {p for p in Path(folder).rglob("*") if "__pycache__" not in p.parts}


def keep(gallery_conf, path, when):
    """Set the filters before a story; restore them and compare the files after it."""
    folder = gallery_conf["examples_dirs"]
    if when == "before":
        _before.update(files=_files(folder), filters=warnings.filters[:])
        _before["options"] = sys.warnoptions[:]
        warnings.simplefilter("error")
        # Data of stories are small, so that scores of a search rest on few errors; the
        # search says so to a reader who runs it.
        warnings.filterwarnings("ignore", "A score of .* rests on")
        warnings.filterwarnings("ignore", "This fit has .* people and")
        # Processes that the story starts take these.
        sys.warnoptions[:] = ["error", "ignore:A score of", "ignore:This fit has"]
        return
    warnings.resetwarnings()
    warnings.filters[:] = _before["filters"]
    sys.warnoptions[:] = _before["options"]
    left = sorted(map(str, _files(folder) - _before["files"]))
    if left:
        raise ExtensionError(f"{path} leaves files behind: {', '.join(left)}")
