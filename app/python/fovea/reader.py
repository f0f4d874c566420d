"""Reads a .safetensors file into NumPy arrays."""
from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, NamedTuple

from .arrays import SIZES
from .errors import FoveaError, need


class Tensors(NamedTuple):
    """The content of a file."""

    arrays: Dict[str, Any]  # NumPy; BF16 as float32, which holds its values exactly
    types: Dict[str, str]  # as the file names them, such as "BF16"
    metadata: Dict[str, str]


def read(path: "str | os.PathLike[str]") -> Tensors:
    """All tensors of a file. Raises FoveaError for a file that is damaged."""
    numpy = need("numpy", "Reading a file")
    with open(path, "rb") as file:
        content = file.read()
    if len(content) < 8:
        raise FoveaError(f"{path} is too short for a .safetensors file")
    (length,) = struct.unpack("<Q", content[:8])
    if length > len(content) - 8:
        raise FoveaError(f"{path} ends within its header")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays, types = {}, {}
    kinds = {"F": "f", "I": "i", "U": "u"}
    for name, entry in header.items():
        begin, end = (8 + length + place for place in entry["data_offsets"])
        dtype, piece = entry["dtype"], content[begin:end]
        if len(piece) != end - begin:
            raise FoveaError(f"{path} ends within '{name}'")
        if dtype == "BF16":
            array = (numpy.frombuffer(piece, "<u2").astype("<u4") << 16).view("<f4")
        elif dtype == "BOOL":
            array = numpy.frombuffer(piece, numpy.bool_)
        elif dtype in SIZES:
            array = numpy.frombuffer(piece, f"<{kinds[dtype[0]]}{SIZES[dtype]}")
        else:
            raise FoveaError(f"{path}: '{name}' has the type {dtype}, which is not read")
        arrays[name], types[name] = array.reshape(entry["shape"]), dtype
    return Tensors(arrays, types, metadata)
