"""Results as JSON, which only need be read."""

import math
from dataclasses import fields, is_dataclass

import numpy as np


def plain_form(value):
    """Dicts, lists and values for strict JSON: nan as null, infinities as text.

    Half characters, as in the path of a file whose name is not UTF-8, become "?".
    Fields of dataclasses whose metadata say ``json=False`` are left out.
    """
    if is_dataclass(value):
        shown = [f.name for f in fields(value) if f.metadata.get("json", True)]
        return {name: plain_form(getattr(value, name)) for name in shown}
    if isinstance(value, dict):
        return {plain_form(key): plain_form(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain_form(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain_form(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
