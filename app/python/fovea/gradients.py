"""Gradients of a backward pass, which Fovea holds against those of the attention."""
from __future__ import annotations

from typing import Any, Dict, Mapping

from .errors import FoveaError

NAMES = ("dz", "dq", "dk", "dv")


def check_names(given: Mapping[str, Any]) -> None:
    """Raises FoveaError for other names, and where there is nothing to compare. An array of None is not given."""
    if not isinstance(given, Mapping):
        raise FoveaError(f"gradients is of the type {type(given).__name__}; expected a dict of {', '.join(NAMES)}")
    unknown = [name for name in given if name not in NAMES]
    if unknown:
        raise FoveaError(f"gradients has {', '.join(map(repr, unknown))}; expected {', '.join(NAMES)}")
    known = [name for name in NAMES if given.get(name) is not None]
    if "dz" not in known or len(known) < 2:
        raise FoveaError(f"gradients has {' and '.join(known) or 'no array'}; expected dz and at least one of dq, dk "
                         "and dv (PyTorch keeps the .grad of what a model computes after .retain_grad())")


def check_shapes(given: Dict[str, Any], q: Any, k: Any, v: Any) -> None:
    """Raises FoveaError for gradients that do not fit q [H, nq, d], k [Hkv, nk, d] and v [Hkv, nk, dv]."""
    if not given:
        return
    if v is None:
        raise FoveaError("gradients without v: there is nothing to compare them with")
    heads, queries, width = int(q.shape[0]), int(q.shape[1]), int(v.shape[2])
    shapes = {"dz": [[heads, queries, width]], "dq": [list(q.shape)],
              "dk": [list(k.shape), [heads, *k.shape[1:]]], "dv": [list(v.shape), [heads, *v.shape[1:]]]}
    for name, array in given.items():
        if list(array.shape) not in shapes[name]:
            expected = " or ".join(dict.fromkeys(map(str, shapes[name])))  # the same where no heads share keys
            raise FoveaError(f"{name} has the shape {list(array.shape)}; expected {expected}")
