"""Tensors of PyTorch and of NumPy, seen alike: their type, their shape and their bytes."""
from __future__ import annotations

from typing import Any, NamedTuple, Sequence, Tuple

from .errors import FoveaError, need

TYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1,
         "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1}
# Spacing of numbers just above 1.
ROUNDING = {"F64": 2.0**-52, "F32": 2.0**-23, "F16": 2.0**-10, "BF16": 2.0**-7}
LOWEST = {"F64": -1.7976931348623157e308, "F32": -3.4028234663852886e38, "F16": -65504.0,
          "BF16": -3.3895313892515355e38}


class Block(NamedTuple):
    """The content of one tensor, as a safetensors file holds it."""

    dtype: str  # a value of TYPES
    shape: Tuple[int, ...]
    data: memoryview  # row-major, little-endian


def is_torch(array: Any) -> bool:
    """Whether this is a tensor of PyTorch. Does not import PyTorch."""
    return type(array).__module__.split(".")[0] == "torch" or hasattr(array, "detach")


def type_of(array: Any) -> str:
    """The type by its name in safetensors, such as "BF16". Raises FoveaError for other types."""
    name = getattr(array.dtype, "name", None) or str(array.dtype).replace("torch.", "")
    if name not in TYPES:
        raise FoveaError(f"a tensor has the type {name}; expected one of {', '.join(TYPES)}")
    return TYPES[name]


def array_of(value: Any, name: str) -> Any:
    """A tensor of PyTorch as it is, or a NumPy array of anything else. Raises FoveaError where it has no numbers."""
    if is_torch(value):
        if getattr(value, "is_nested", False) or str(getattr(value, "layout", "")) != "torch.strided":
            raise FoveaError(f"{name} is a tensor of the layout {getattr(value, 'layout', 'unknown')}; pass a dense "
                             "one, its .to_dense() or one sequence of it")
        if getattr(value, "is_meta", False):
            raise FoveaError(f"{name} is a tensor on the device 'meta', which holds no numbers")
        if type(value).__module__ == "torch.nn.attention.bias":
            raise FoveaError(f"{name} is a {type(value).__name__}, which holds no numbers; pass a Boolean mask, or "
                             "causal=True")
        return value
    numpy = need("numpy", "Saving arrays")
    try:
        return numpy.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise FoveaError(f"{name} cannot be read as an array ({_first_line(error)}); expected a tensor of NumPy or "
                         "PyTorch") from error


def block_of(array: Any) -> Block:
    """The bytes of a tensor of any strides, on any device. Raises FoveaError where they cannot be had."""
    numpy = need("numpy", "Writing tensors")
    array = array_of(array, "a tensor")
    dtype = type_of(array)
    shape = tuple(int(n) for n in array.shape)
    if is_torch(array):
        array = _from_torch(array, dtype == "BF16")
    array = numpy.ascontiguousarray(array).reshape(-1)
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and not _little_endian()):
        array = array.astype(array.dtype.newbyteorder("<"))
    return Block(dtype, shape, memoryview(array.view(numpy.uint8)))


def numbers_of(array: Any) -> Any:
    """The values as a NumPy array: Boolean, integers, float64, or float32 for shorter types."""
    numpy = need("numpy", "Reading tensors")
    if is_torch(array):
        array = array_of(array, "a tensor")
        return _from_torch(array.float() if type_of(array) in ("BF16", "F16") else array)
    array = array_of(array, "a tensor")
    if array.dtype.kind == "f" and array.dtype.itemsize < 4 or array.dtype.name == "bfloat16":
        return array.astype(numpy.float32)
    return array


def stacked(arrays: Sequence[Any]) -> Any:
    """Arrays of one shape behind a new first axis; None if there are none."""
    if not arrays:
        return None
    if is_torch(arrays[0]):
        return need("torch", "Stacking tensors of PyTorch").stack([array.detach().cpu() for array in arrays])
    return need("numpy", "Stacking arrays").stack(arrays)


def _from_torch(array: Any, as_bits: bool = False) -> Any:
    """The content of a tensor in NumPy; of BF16, which NumPy lacks, the bits. Raises FoveaError where it has none."""
    torch = need("torch", "Reading tensors of PyTorch")
    try:
        array = array_of(array, "a tensor").detach().to("cpu").resolve_conj().resolve_neg()
        return (array.contiguous().view(torch.int16) if as_bits else array).numpy()
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:  # of a class of its own, in vmap, ...
        raise FoveaError(f"a tensor of the class {type(array).__name__} cannot be read: "
                         f"{_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _little_endian() -> bool:
    import sys

    return sys.byteorder == "little"
