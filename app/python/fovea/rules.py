"""What the program takes, so that nothing is written that it refuses: the rules of its reader, for arguments."""
from __future__ import annotations

import math
import operator
from typing import Any, Optional

from .arrays import array_of, numbers_of, type_of
from .errors import FoveaError, need

FLOATING = ("F64", "F32", "F16", "BF16")
LARGEST_WINDOW = 2**31 - 1
LARGEST_SEGMENT = 2**24


def positive(value: Any, name: str) -> Optional[float]:
    """A scale or a soft cap."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        raise FoveaError(f"{name} is {value!r}; expected a number above 0") from None
    if not 0 < number < math.inf:
        raise FoveaError(f"{name} is {number:g}; expected a number above 0")
    return number


def window_of(value: Any) -> Optional[int]:
    if value is None:
        return None
    try:
        keys = operator.index(value)
    except (TypeError, RuntimeError):
        raise FoveaError(f"window is {value!r}; expected a whole number of keys, 1 or more") from None
    if not 1 <= keys <= LARGEST_WINDOW:
        raise FoveaError(f"window is {keys}; expected a whole number of keys, 1 or more")
    return keys


def floating(array: Any, name: str) -> Any:
    """The array, which has numbers of a floating type and at least one of them."""
    array = array_of(array, name)
    dtype = type_of(array)
    if dtype not in FLOATING:
        raise FoveaError(f"{name} has the type {dtype}; expected {', '.join(FLOATING)}: convert it, to float32 say")
    if 0 in tuple(array.shape):
        raise FoveaError(f"{name} has the shape {list(array.shape)}; expected at least one head, token and column")
    return array


def mask_of(mask: Any) -> Any:
    """A mask as Boolean (True: may attend) or as floats that are added to the logits.

    Integers 0 and 1 are what tokenizers call `attention_mask`. The same numbers as floats may have been meant so too,
    and would change the logits by 1 only: they are refused.
    """
    if mask is None:
        return None
    mask = array_of(mask, "mask")
    dtype = type_of(mask)
    if dtype == "BOOL":
        return mask
    numpy = need("numpy", "Reading a mask")
    numbers = numbers_of(mask)
    of_bits = bool(numpy.isin(numbers, (0, 1)).all())
    if dtype in FLOATING:
        if of_bits and numbers.any():
            raise FoveaError("mask has only 0 and 1 in a floating type, and a floating mask is added to the logits: "
                             "convert it to bool if 1 means \"may attend\", or pass it as bias=")
        return mask
    if not of_bits:
        raise FoveaError(f"mask has integers other than 0 and 1, {int(numbers.min())} to {int(numbers.max())}; "
                         "expected 1 or true where a query may attend, or floats that are added to the logits")
    return numbers != 0


def of_heads(values: Any, name: str) -> Any:
    """ALiBi's slopes and sinks."""
    if values is None:
        return None
    numpy = need("numpy", "Reading numbers of heads")
    numbers = numbers_of(array_of(values, name))
    if numbers.dtype.kind not in "fiu" or not numpy.isfinite(numbers).all():
        raise FoveaError(f"{name} holds something other than finite numbers; expected one for each head")
    return numbers


def segments_of(values: Any) -> Any:
    if values is None:
        return None
    numbers = numbers_of(array_of(values, "segments"))
    whole = numbers.dtype.kind in "iu" or (numbers.dtype.kind == "f" and (numbers % 1 == 0).all())
    if not whole or (numbers < 0).any() or (numbers > LARGEST_SEGMENT).any():
        raise FoveaError("segments holds something other than whole numbers from 0 to 2^24; expected the number of the "
                         "segment of each key")
    return numbers
