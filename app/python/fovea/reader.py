"""Reads a .safetensors file into NumPy arrays, with the checks of the program's reader."""
from __future__ import annotations

import json
import math
import os
import stat
import struct
from typing import Any, BinaryIO, Dict, List, NamedTuple, Tuple

from .arrays import SIZES
from .errors import FoveaError, need

LONGEST_HEADER = 100_000_000  # bytes
LARGEST = 2**63 - 1
DEEPEST = 32


class Tensors(NamedTuple):
    """The content of a file."""

    arrays: Dict[str, Any]  # NumPy; BF16 as float32, which holds its values exactly
    types: Dict[str, str]  # as the file names them, such as "BF16"
    metadata: Dict[str, str]


class Place(NamedTuple):
    """Where a tensor lies in the file, and what it is."""

    name: str
    dtype: str
    shape: List[int]
    begin: int  # from the end of the header on
    end: int


def read(path: "str | os.PathLike[str]") -> Tensors:
    """All tensors of a file. Raises FoveaError for a file that is damaged or cannot be read."""
    need("numpy", "Reading a file")
    path = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise FoveaError(f"{path} is no regular file; expected a .safetensors file")
        with open(path, "rb") as file:
            return read_from(file, path, os.fstat(file.fileno()).st_size)
    except (OSError, ValueError) as error:  # a path may hold a zero byte
        raise FoveaError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_from(file: BinaryIO, path: str, size: int) -> Tensors:
    """The tensors of an open file of `size` bytes, which messages call `path`. Raises FoveaError and OSError."""
    header, begin = _header(path, file, size)
    places, metadata = _entries(path, header, size - begin)
    arrays = {place.name: _array(path, file, begin, place) for place in places}
    return Tensors(arrays, {place.name: place.dtype for place in places}, metadata)


def _header(path: str, file: BinaryIO, size: int) -> Tuple[Dict[str, Any], int]:
    """The header, and where the tensors begin."""
    if size < 8:
        raise FoveaError(f"{path} has {size} bytes: too short for a .safetensors file")
    (length,) = struct.unpack("<Q", file.read(8))
    if length > LONGEST_HEADER:
        raise FoveaError(f"{path}: its header would have {length} bytes; expected a .safetensors file, with at most "
                         f"{LONGEST_HEADER}")
    if length > size - 8:
        raise FoveaError(f"{path} has a header of {length} bytes and ends within it")
    try:
        header = json.loads(file.read(length).decode("utf-8"), object_pairs_hook=_unique, parse_int=_whole,
                            parse_float=_finite, parse_constant=_no_number)
        _check(header)
    except (ValueError, RecursionError) as error:
        raise FoveaError(f"{path}: its header is not JSON as .safetensors has it: {error}") from error
    if not isinstance(header, dict):
        raise FoveaError(f"{path}: its header is {type(header).__name__}; expected an object")
    return header, 8 + length


def _entries(path: str, header: Dict[str, Any], available: int) -> Tuple[List[Place], Dict[str, str]]:
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FoveaError(f"{path}: __metadata__ is not an object of strings")
    places = [_place(f"{path}, '{name}'", name, entry, available) for name, entry in header.items()]
    end = 0
    for place in sorted(places, key=lambda place: (place.begin, place.end)):
        if place.begin != end:
            wrong = "tensors overlap" if place.begin < end else "a hole"
            raise FoveaError(f"{path}: {wrong} at byte {place.begin} of the data, where '{place.name}' begins; "
                             f"expected tensors side by side, the one before ends at {end}")
        end = place.end
    if end != available:
        raise FoveaError(f"{path}: the tensors end at byte {end} of {available} bytes of data; expected no remainder")
    return places, metadata


def _place(where: str, name: str, entry: Any, available: int) -> Place:
    if not isinstance(entry, dict):
        raise FoveaError(f"{where} is {type(entry).__name__}; expected an object")
    for member in ("dtype", "shape", "data_offsets"):
        if member not in entry:
            raise FoveaError(f"{where} has no {member}")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    for member, numbers in (("shape", shape), ("data_offsets", offsets)):
        if not isinstance(numbers, list) or not all(type(n) is int and 0 <= n <= LARGEST for n in numbers):
            raise FoveaError(f"{where}: {member} is not a list of whole numbers from 0")
    if len(offsets) != 2 or not offsets[0] <= offsets[1] <= available:
        raise FoveaError(f"{where}: data_offsets are {offsets}; expected [begin, end] within {available} bytes")
    if not isinstance(dtype, str) or dtype not in SIZES:
        raise FoveaError(f"{where} has the type {dtype}, which is not read")
    if _bytes_of(dtype, shape) != offsets[1] - offsets[0]:
        raise FoveaError(f"{where}: {dtype} of the shape {shape} does not have the {offsets[1] - offsets[0]} bytes "
                         "that its data_offsets span")
    return Place(name, dtype, shape, *offsets)


def _bytes_of(dtype: str, shape: List[int]) -> int:
    """-1: more than 2^63. An empty tensor is empty whatever its other lengths are."""
    if 0 in shape:
        return 0
    count = SIZES[dtype]
    for length in shape:
        count *= length
        if count > LARGEST:
            return -1
    return count


def _array(path: str, file: BinaryIO, begin: int, place: Place) -> Any:
    numpy = need("numpy", "Reading a file")
    kinds = {"F": "<f", "I": "<i", "U": "<u"}
    kind = {"BF16": "<u2", "BOOL": "u1"}.get(place.dtype) or f"{kinds[place.dtype[0]]}{SIZES[place.dtype]}"
    array = numpy.empty(place.shape, kind)
    file.seek(begin + place.begin)
    if file.readinto(memoryview(array.reshape(-1).view(numpy.uint8))) != array.nbytes:
        raise FoveaError(f"{path} ends within '{place.name}'")
    if place.dtype == "BF16":
        return (array.astype("<u4") << 16).view("<f4")
    return array != 0 if place.dtype == "BOOL" else array


def _unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name occurs twice")
    return entries


def _whole(digits: str) -> int:
    return -1 if digits.startswith("-") else int(digits)  # "-0" too is no count


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _check(value: Any, depth: int = 0) -> None:
    r"""Raises ValueError for half of a character that takes two escapes, "\ud83d", and for what is nested deeply."""
    if depth > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} deep")
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, (dict, list)):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            _check(part, depth + 1)
