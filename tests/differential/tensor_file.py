"""A .safetensors file as arrays: a length, a header in JSON, the bytes of the tensors."""
import json
import struct

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}


def bfloat16(values):
    """The upper halves of float32: rounded towards 0."""
    return (values.astype("<f4").view("<u4") >> 16).astype("<u2")


def of_bfloat16(halves):
    return (halves.astype("<u4") << 16).view("<f4")


def write(path, tensors, metadata):
    """`tensors`: {name: (type, array)}; an array of BF16 is what bfloat16 makes."""
    header, parts, end = {"__metadata__": metadata}, [], 0
    for name, (kind, array) in tensors.items():
        parts.append(np.ascontiguousarray(array, TYPES[kind]).tobytes())
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [end, end + len(parts[-1])]}
        end += len(parts[-1])
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read(path):
    """The tensors, and the metadata as texts."""
    with open(path, "rb") as file:
        everything = file.read()
    begin = 8 + struct.unpack("<Q", everything[:8])[0]
    header = json.loads(everything[8:begin])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        array = np.frombuffer(everything[begin + first : begin + end], TYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    return tensors, metadata
