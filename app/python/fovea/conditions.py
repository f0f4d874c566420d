"""What an attention call adds to softmax(scale q k^T) v: masks, biases, a soft cap, sinks.

Query i of nq stands at the place i + nk - nq among the nk keys: both end together.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, List, Optional

from .arrays import LOWEST, numbers_of, type_of
from .errors import FoveaError, need

VERY_NEGATIVE = -1e4  # a mask of 0 and of one value of at most this is Boolean


@dataclass
class Conditions:
    """Arrays are of NumPy. None: there is no such condition."""

    scale: Optional[float] = None  # logits are scale q.k; None: 1 / sqrt(d)
    causal: Optional[bool] = None  # key j is seen iff j <= i + nk - nq; None: not said
    window: Optional[int] = None  # key j is seen iff j > i + nk - nq - window
    softcap: Optional[float] = None  # c tanh(logit / c)
    mask: Any = None  # bool [nk], [nq, nk] or [H, nq, nk]; True: may attend
    bias: Any = None  # float [nk], [nq, nk] or [H, nq, nk], added after the soft cap
    alibi: Any = None  # float32 [H]: adds slope (j - (i + nk - nq))
    sinks: Any = None  # float32 [H]: exp(sink) is added to the sum of a row
    segments: Any = None  # int32 [nk]: tokens of different segments do not meet; query i is token i + nk - nq

    def of_heads(self, heads: List[int]) -> "Conditions":
        """The conditions of some of the heads, in this order."""

        def chosen(array: Any, axes: int) -> Any:
            return array[heads] if array is not None and array.ndim == axes else array

        return replace(self, mask=chosen(self.mask, 3), bias=chosen(self.bias, 3),
                       alibi=chosen(self.alibi, 1), sinks=chosen(self.sinks, 1))


def recognised(conditions: Conditions, nq: int, nk: int, heads: int, mask: Any = None, bias: Any = None,
               ends_causal: bool = False) -> Conditions:
    """The conditions with a mask and a bias as a model gives them, in their shortest exact form.

    `mask` is Boolean (True: may attend) or float (added to the logits), `bias` is float; both may lack axes or
    have axes of length 1: [nk], [nq, nk] or [H, nq, nk]. A mask which is causal, causal with a window, lets only
    tokens of one document meet, or hides keys from all queries is recorded as that. A bias which is a slope per
    head times the distance is recorded as ALiBi. `ends_causal` says that a single query which sees all keys belongs
    to causal attention.
    Raises FoveaError for a shape that does not fit.
    """
    check_segments(conditions.segments, nq, nk)
    result = replace(conditions)
    allow = None
    added = None
    if mask is not None:
        if type_of(mask) == "BOOL":
            allow = _axes(numbers_of(mask), nq, nk, heads, "mask")
        else:
            allow, added = _split(_axes(numbers_of(mask), nq, nk, heads, "mask"), type_of(mask))
    if bias is not None:
        seen, more = _split(_axes(numbers_of(bias), nq, nk, heads, "bias"), type_of(bias))
        allow = seen if allow is None else allow if seen is None else allow & seen
        if more is not None:
            added = more if added is None else added + more
    if allow is not None:
        _set_mask(result, _without_equal_heads(allow), nq, nk, heads)
    if ends_causal and nq == 1 and result.causal is not True:
        result.causal = True  # a single query at the end sees the same keys
    if result.causal is None and allow is not None:
        result.causal = False
    if added is not None:
        _set_bias(result, added, seen_pairs(result, nq, nk), nq, nk, heads)
    return result


def check_segments(segments: Any, nq: int, nk: int) -> None:
    """Raises FoveaError unless each key has a segment, and each query is one of their tokens."""
    if segments is None:
        return
    if list(segments.shape) != [nk]:
        raise FoveaError(f"segments has the shape {list(segments.shape)}; expected [{nk}], one for each key")
    if nq > nk:
        raise FoveaError(f"segments need at least as many keys ({nk}) as queries ({nq}): query i belongs to the "
                         "segment of key i + nk - nq")


def seen_pairs(conditions: Conditions, nq: int, nk: int, rows: Any = None) -> Any:
    """Which queries may attend to which keys: bool [nq, nk] or [H, nq, nk], for all or some rows."""
    numpy = need("numpy", "Checking a mask")
    rows = numpy.arange(nq) if rows is None else rows
    place = (rows + (nk - nq))[:, None]
    keys = numpy.arange(nk)[None, :]
    seen = numpy.ones((len(rows), nk), bool)
    if conditions.causal:
        seen &= keys <= place
    if conditions.window is not None:
        seen &= keys > place - conditions.window
    if conditions.segments is not None:
        seen &= conditions.segments[rows + (nk - nq)][:, None] == conditions.segments[None, :]
    if conditions.mask is not None:
        seen = seen & (conditions.mask if conditions.mask.ndim == 1 else conditions.mask[..., rows, :])
    return seen


def _axes(array: Any, nq: int, nk: int, heads: int, name: str) -> Any:
    """The array with three axes, [1 or H, 1 or nq, nk]."""
    shape = tuple(array.shape)
    while array.ndim > 3 and array.shape[0] == 1:
        array = array[0]
    if array.ndim > 3:
        raise FoveaError(f"{name} has the shape {shape}; expected [nk], [nq, nk] or [H, nq, nk]")
    while array.ndim < 3:
        array = array[None]
    if array.shape[2] > nk:
        array = array[:, :, :nk]  # places of a cache that are not filled yet
    if array.shape[2] == 1 and nk > 1:
        numpy = need("numpy", "Recording masks")
        array = numpy.broadcast_to(array, (*array.shape[:2], nk))
    if array.shape[0] not in (1, heads) or array.shape[1] not in (1, nq) or array.shape[2] != nk:
        raise FoveaError(f"{name} has the shape {shape}; {heads} heads, {nq} queries and {nk} keys were "
                         "expected")
    return array


def _split(values: Any, dtype: str) -> Any:
    """A float mask as (which pairs may meet, what is added to the others); None for what does not matter."""
    numpy = need("numpy", "Recording masks")
    lowest = LOWEST.get(dtype, LOWEST["F32"]) / 2
    hidden = values <= lowest
    negative = values[values <= VERY_NEGATIVE]
    if negative.size and not hidden.all() and (values[values > VERY_NEGATIVE] == 0).all() and (
            negative == negative.flat[0]).all():
        hidden = values <= VERY_NEGATIVE
    added = numpy.where(hidden, numpy.zeros((), values.dtype), values)
    return (~hidden if hidden.any() else None), (added if added.any() else None)


def _without_equal_heads(array: Any) -> Any:
    if array.shape[0] > 1 and (array[1:] == array[:1]).all():
        return array[:1]
    return array


def _set_mask(result: Conditions, allow: Any, nq: int, nk: int, heads: int) -> None:
    """Takes up `allow`, [1 or H, 1 or nq, nk], beside what is known already."""
    numpy = need("numpy", "Recording masks")
    if allow.all():
        return
    if allow.shape[0] > 1:
        result.mask = numpy.ascontiguousarray(numpy.broadcast_to(allow, (heads, nq, nk)))
        return
    pairs = allow[0]
    if len(pairs) == 1 or (pairs == pairs[:1]).all():
        result.mask = numpy.ascontiguousarray(pairs[0])
        return
    if result.causal is None and result.window is None:
        keep = pairs.any(axis=0)
        for causal, window in ((True, None), (True, _window_of(pairs, nq, nk))):
            seen = seen_pairs(Conditions(causal=causal, window=window), nq, nk)
            if (pairs == (seen & keep)).all():
                result.causal, result.window = causal, window
                result.mask = numpy.ascontiguousarray(keep) if (seen.any(axis=0) & ~keep).any() else None
                return
        if result.segments is None and nq == nk and _set_documents(result, pairs):
            return
    result.mask = numpy.ascontiguousarray(pairs)


def _set_documents(result: Conditions, pairs: Any) -> bool:
    """Takes up pairs [n, n] that are documents, causal or not, with keys that nobody sees; whether they are."""
    numpy = need("numpy", "Recording masks")
    keep = pairs.any(axis=0)
    # A document is that of the first key which its first query sees; a token that sees nothing has its own.
    first = numpy.where(pairs.any(axis=1), pairs.argmax(axis=1), numpy.arange(len(pairs)))
    segments = numpy.unique(first, return_inverse=True)[1].reshape(-1).astype(numpy.int32)
    for causal in (False, True):
        found = Conditions(causal=causal, segments=segments)
        if (pairs == (seen_pairs(found, len(pairs), len(pairs)) & keep)).all():
            result.causal, result.segments = causal, segments
            result.mask = None if keep.all() else numpy.ascontiguousarray(keep)
            return True
    return False


def _window_of(pairs: Any, nq: int, nk: int) -> int:
    """The longest reach of a query to keys before it, itself included."""
    numpy = need("numpy", "Recording masks")
    rows = numpy.flatnonzero(pairs.any(axis=1))
    return int((rows + (nk - nq) - pairs[rows].argmax(axis=1) + 1).max()) if rows.size else 1


def _set_bias(result: Conditions, added: Any, seen: Any, nq: int, nk: int, heads: int) -> None:
    numpy = need("numpy", "Recording biases")
    slopes = _slopes_of(added, seen, nq, nk, heads)
    if slopes is not None and result.alibi is None:
        result.alibi = slopes
        return
    added = _without_equal_heads(added)
    if added.shape[0] > 1:
        added = numpy.broadcast_to(added, (heads, nq, nk))
    else:
        added = added[0][0] if added.shape[1] == 1 or nq == 1 else added[0]
    result.bias = numpy.ascontiguousarray(added, dtype=numpy.float64 if added.dtype == numpy.float64
                                          else numpy.float32)


def _slopes_of(added: Any, seen: Any, nq: int, nk: int, heads: int) -> Any:
    """The slopes of ALiBi where the bias is slope * j + a number for each row, on all pairs seen; else None.

    A number for each row does not change a softmax. Only a bias of several heads is taken for ALiBi.
    """
    numpy = need("numpy", "Recording biases")
    if added.shape[0] < 2:
        return None
    keys = numpy.arange(nk, dtype=numpy.float64)
    slopes = numpy.zeros(heads)
    for head in range(heads):
        values = numpy.broadcast_to(added[head], (nq, nk))
        pairs = seen if seen.ndim == 2 else seen[head]
        last = numpy.flatnonzero(pairs[-1])
        if last.size < 3:
            return None
        slope = float((float(values[-1, last[-1]]) - float(values[-1, last[0]])) / (last[-1] - last[0]))
        rest = values - slope * keys
        high = numpy.where(pairs, rest, -numpy.inf).max(axis=1)
        low = numpy.where(pairs, rest, numpy.inf).min(axis=1)
        tolerance = 2.0**-20 * max(1.0, float(numpy.abs(values[pairs]).max()))
        some = pairs.any(axis=1)
        if (high[some] - low[some] > tolerance).any():
            return None
        slopes[head] = slope
    return slopes.astype(numpy.float32) if slopes.any() else None
