"""Stories find the files beside them by ``__file__``, which sphinx-gallery leaves undefined."""

import builtins


def tell(gallery_conf, path):
    """Before each example, the path under the name that a script finds it by."""
    builtins.__file__ = str(path)
