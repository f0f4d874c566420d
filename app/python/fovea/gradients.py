"""Gradients of a backward pass, which Fovea holds against those of the attention."""
from __future__ import annotations

from typing import Any, Dict, Mapping

from .errors import FoveaError

NAMES = ("dz", "dq", "dk", "dv")


def check_names(given: Mapping[str, Any]) -> None:
    """Raises FoveaError for what is no gradient, and where there is nothing to compare."""
    unknown = sorted(set(given) - set(NAMES))
    if unknown:
        raise FoveaError(f"gradients have {', '.join(map(repr, unknown))}; expected {', '.join(NAMES)}")
    if "dz" not in given or len(given) < 2:
        raise FoveaError("gradients are dz, that of a loss by z, and what follows from it: expected dz and one of "
                         "dq, dk and dv")


def check_shapes(given: Dict[str, Any], q: Any, k: Any, v: Any) -> None:
    """dz is as z, dq as q; dk and dv are as k and v, or of every query head. Raises FoveaError."""
    if given and v is None:
        raise FoveaError("gradients without v: there is nothing to compare them with")
    for name, array in given.items():
        heads, like = int(q.shape[0]), {"dz": q, "dq": q, "dk": k, "dv": v}[name]
        width = int((v if name == "dz" else like).shape[2])
        expected = [heads, int(like.shape[1]), width]
        if list(array.shape) not in (expected, [int(like.shape[0]), *expected[1:]]):
            raise FoveaError(f"{name} has the shape {list(array.shape)}; expected {expected}")
