"""Compressed entries: keys that each stand for a run of tokens, as those of CSA and HCA do, beside the tokens."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from .arrays import array_of, numbers_of
from .errors import FoveaError, need
from .rules import floating

if TYPE_CHECKING:
    from .call import Call

# What `fovea.save` and `fovea.record` do not write beside them.
WITHOUT = ("mask", "bias", "alibi", "segments")


def compressed_of(k_extra: Any, v_extra: Any, extra_tokens: Any, extra_indices: Any) -> Dict[str, Any]:
    """The tensors of compressed entries by the names that they have in a file; none if nothing is given."""
    given = {"k_extra": k_extra, "v_extra": v_extra, "extra_tokens": extra_tokens, "extra_indices": extra_indices}
    given = {name: value for name, value in given.items() if value is not None}
    missing = [name for name in ("k_extra", "extra_tokens") if name not in given]
    if given and missing:
        raise FoveaError(f"{' and '.join(given)} without {' and '.join(missing)}; expected both")
    return {name: floating(value, name) if name in ("k_extra", "v_extra") else _whole_numbers(value, name)
            for name, value in given.items()}


def check_compressed(call: "Call") -> None:
    """Raises FoveaError for entries that the program would refuse, or that are not written beside something else."""
    given = call.compressed
    if not given:
        return
    others = [name for name in WITHOUT if getattr(call.conditions, name) is not None]
    others += ["gradients"] * bool(call.gradients) + ["recurrence"] * (call.recurrence is not None)
    if others:
        raise FoveaError(f"{', '.join(others)} beside k_extra: they are not written together; expected one of them")
    if (call.v is None) != ("v_extra" not in given):
        raise FoveaError("v and v_extra: expected both, or neither")
    tokens, entries = int(call.k.shape[1]), call.entries
    if call.queries > tokens:
        raise FoveaError(f"{call.queries} queries and {tokens} tokens beside k_extra; expected at most as many queries")
    shapes = {"k_extra": (call.k, "[Hkv, m, d]"), "v_extra": (call.v, "[Hkv, m, dv]")}
    for name, (like, expected) in shapes.items():
        if name in given and list(given[name].shape) != [int(like.shape[0]), entries, int(like.shape[2])]:
            raise FoveaError(f"{name} has the shape {list(given[name].shape)}; expected {expected}, here "
                             f"{[int(like.shape[0]), entries, int(like.shape[2])]}")
    ends = given["extra_tokens"]
    if list(ends.shape) != [entries, 2]:
        raise FoveaError(f"extra_tokens has the shape {list(ends.shape)}; expected {[entries, 2]}, the first token of "
                         "each entry and one past the last")
    if (ends[:, 0] < 0).any() or (ends[:, 0] >= ends[:, 1]).any() or (ends[:, 1] > tokens).any():
        raise FoveaError(f"extra_tokens has an entry without tokens; expected each to stand for some of the {tokens} "
                         "tokens")
    if (ends[1:] < ends[:-1]).any():
        raise FoveaError("extra_tokens are not in order; expected entries in the order of their tokens")
    indices = given.get("extra_indices")
    if indices is None:
        return
    heads = (1, int(call.k.shape[0]), call.heads)
    if indices.ndim not in (2, 3) or indices.shape[-2] != call.queries or 0 in indices.shape or (
            indices.ndim == 3 and indices.shape[0] not in heads):
        raise FoveaError(f"extra_indices has the shape {list(indices.shape)}; expected [{call.queries}, entries], or as "
                         f"many for each of {call.heads} heads")
    if (indices < -1).any() or (indices >= entries).any():
        raise FoveaError(f"extra_indices has {int(indices.min())} to {int(indices.max())}; expected -1 to {entries - 1}")


def entry_tokens(tokens: int, rate: int, overlapping: bool) -> List[Tuple[int, int]]:
    """The tokens of each of a number of entries: `rate` of them, and those of the entry before if they are `overlapping`."""
    return [(max(0, (entry - 1) * rate) if overlapping else entry * rate, (entry + 1) * rate)
            for entry in range(tokens // rate)]


def seen_entries(given: Dict[str, Any], causal: bool, first: int, rows: Any, head: int, heads: int) -> Any:
    """Which entries some queries see: bool [rows, m]. `first` is the token of query 0. A choice may have fewer heads
    than the call has."""
    numpy = need("numpy", "Checking a mask")
    ends = numpy.asarray(given["extra_tokens"])[:, 1]
    closed = ends[None, :] <= first + rows[:, None] + 1 if causal else numpy.ones((len(rows), len(ends)), bool)
    indices = given.get("extra_indices")
    if indices is None:
        return closed
    if indices.ndim == 3:
        indices = indices[head * len(indices) // heads]
    chosen = numpy.zeros((len(rows), len(ends) + 1), bool)
    numpy.put_along_axis(chosen, indices[rows], True, axis=1)  # -1 is the last column, which is left out
    return chosen[:, :-1] & closed


def choice_of(seen: Any, ends: Any) -> Any:
    """The entries [n, most] or [H, n, most] that queries see, -1 behind the last; None if they are all that have closed.

    Raises FoveaError where a query sees an entry before it has closed.
    """
    numpy = need("numpy", "Checking a mask")
    closed = ends[None, :] <= numpy.arange(seen.shape[-2])[:, None] + 1
    if (seen & ~closed).any():
        raise FoveaError("a query sees a compressed entry before its last token")
    if (seen == closed).all():
        return None
    most = max(1, int(seen.sum(axis=-1).max()))
    order = numpy.argsort(~seen, axis=-1, kind="stable")[..., :most]
    return numpy.where(numpy.take_along_axis(seen, order, axis=-1), order, -1).astype("int32")


def of_heads(given: Dict[str, Any], heads: Any, used: Any, count: int) -> Dict[str, Any]:
    """Those of some query heads, of `count`, and of the key heads which they use."""
    result = dict(given)
    for name in ("k_extra", "v_extra"):
        if name in given:
            result[name] = given[name][used]
    indices = given.get("extra_indices")
    if indices is not None and indices.ndim == 3 and indices.shape[0] > 1:
        group = count // indices.shape[0]
        result["extra_indices"] = indices[[head // group for head in heads]]
    return result


def _whole_numbers(values: Any, name: str) -> Any:
    numbers = numbers_of(array_of(values, name))
    if numbers.dtype.kind not in "iu":
        raise FoveaError(f"{name} has the type {numbers.dtype}; expected integers")
    if numbers.size and numbers.max() > 2**31 - 1:
        raise FoveaError(f"{name} has {int(numbers.max())}; expected numbers of tokens or entries")
    return need("numpy", "Saving arrays").asarray(numbers, dtype="int64" if numbers.dtype.itemsize == 8 else "int32")
