"""Kept pairs, in the forms that the program reads: a mask, lists of keys or of blocks, FlexAttention's BlockMask."""
from __future__ import annotations

import operator
from typing import Any, Dict, Optional, Sequence, Tuple

from .arrays import array_of, numbers_of
from .errors import FoveaError, need

LISTS_OF_BLOCK_MASK = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")


def selection_of(kept: Any, indices: Any, block_indices: Any, block_size: Any) -> Dict[str, Any]:
    """The tensors that say which pairs are kept, by the names that they have in a file; none if nothing is given."""
    given = [name for name, value in (("kept", kept), ("indices", indices), ("block_indices", block_indices))
             if value is not None]
    if len(given) > 1:
        raise FoveaError(f"{' and '.join(given)} both say which pairs are kept; expected one of them")
    if not given:
        if block_size is not None:
            raise FoveaError("block_size without kept or block_indices; expected one of them")
        return {}
    if block_size is not None and (indices is not None or hasattr(kept, "kv_indices")):
        beside = "indices, which are of single keys" if indices is not None else "a BlockMask, which has its own"
        raise FoveaError(f"block_size beside {beside}; expected none")
    sides = None if block_size is None else _sides_of(block_size)
    if kept is not None and hasattr(kept, "kv_indices"):
        tensors = {name: _whole_numbers(getattr(kept, name), name) for name in LISTS_OF_BLOCK_MASK
                   if getattr(kept, name, None) is not None}
        sides = _sides_of(kept.BLOCK_SIZE)
    elif kept is not None:
        tensors = {"kept": numbers_of(array_of(kept, "kept")) != 0}
    else:
        name = given[0]
        tensors = {name: _whole_numbers(indices if block_indices is None else block_indices, name)}
    if block_indices is not None and sides is None:
        raise FoveaError("block_indices without block_size; expected both")
    if sides is not None:
        tensors["block_size"] = need("numpy", "Saving arrays").asarray(sides, dtype="int32")
    return tensors


def check_selection(tensors: Dict[str, Any], heads: int, key_heads: int, nq: int, nk: int) -> None:
    """Raises FoveaError where the program would refuse them beside a head of these lengths."""
    stated = tensors.get("block_size")
    sides = None if stated is None else (int(stated[0]), int(stated[1]))
    shared = (1, key_heads, heads)
    for name, array in tensors.items():
        if name == "block_size":
            continue
        shape = [int(n) for n in array.shape]
        rank = 2 if name.endswith("num_blocks") else 3
        own = shape[1:] if len(shape) == rank + 1 and shape[0] == 1 else shape
        lists = own + [1] if rank == 2 else own
        if name == "block_indices" and len(lists) == 3 and lists[0] not in shared:
            lists = [lists[1], lists[0], lists[2]]
        fits = len(lists) in (2, 3) and (len(lists) == 2 or lists[0] in shared)
        if not fits or not _fit(name, lists[-2:], sides, nq, nk):
            raise FoveaError(f"{name} has the shape {shape}; expected {_expected(name, sides, nq, nk)}, or as many for "
                             f"each of {heads} heads")


def _fit(name: str, shape: Sequence[int], sides: Optional[Tuple[int, int]], nq: int, nk: int) -> bool:
    down, across = shape
    if name == "indices":
        return down == nq
    if name == "kept":
        if sides is None:
            return _is_covered(nq, down) and _is_covered(nk, across)
        return [down, across] in ([nq, nk], [_blocks(nq, sides[0]), _blocks(nk, sides[1])])
    rows = _blocks(nq, sides[0]) if sides else nq
    return down == rows or (name == "block_indices" and down == nq)


def _expected(name: str, sides: Optional[Tuple[int, int]], nq: int, nk: int) -> str:
    if name == "indices":
        return f"[{nq}, keys of a query]"
    if name == "kept":
        blocks = "as many blocks as cover them" if sides is None else str([_blocks(nq, sides[0]), _blocks(nk, sides[1])])
        return f"[{nq}, {nk}] or {blocks}"
    return f"[{_blocks(nq, sides[0]) if sides else nq}, blocks of a row]"


def _blocks(tokens: int, side: int) -> int:
    return -(-tokens // side)


def _is_covered(tokens: int, count: int) -> bool:
    """Whether `count` blocks of equal size can cover the tokens, the last one perhaps in part."""
    return count >= 1 and _blocks(tokens, _blocks(tokens, count)) == count


def _sides_of(block_size: Any) -> Tuple[int, int]:
    sides = block_size if isinstance(block_size, (tuple, list)) else (block_size, block_size)
    try:
        whole = [operator.index(side) for side in sides]
    except (TypeError, RuntimeError):
        whole = []
    if len(whole) != 2 or not all(1 <= side <= 2**24 for side in whole):
        raise FoveaError(f"block_size is {block_size!r}; expected the queries and keys a side of a block, such as 128 or "
                         "(128, 64)")
    return whole[0], whole[1]


def _whole_numbers(values: Any, name: str) -> Any:
    numbers = numbers_of(array_of(values, name))
    if numbers.dtype.kind not in "iu":
        raise FoveaError(f"{name} has the type {numbers.dtype}; expected integers")
    return numbers.astype("int64" if numbers.dtype.itemsize == 8 else "int32")
