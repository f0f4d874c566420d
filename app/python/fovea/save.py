"""Writes the heads of one attention call that you have as arrays."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional, Sequence, Union

from .arrays import is_torch, numbers_of
from .call import Call, shared_metadata
from .conditions import Conditions, recognised
from .errors import FoveaError
from .writer import TensorBytes, TensorWriter


def save(path: "str | os.PathLike[str]", q: Any, k: Any, v: Any, *, tokens: Optional[Sequence[str]] = None,
         key_tokens: Optional[Sequence[str]] = None, name: Optional[str] = None, scale: Optional[float] = None,
         causal: Optional[bool] = None, window: Optional[int] = None, softcap: Optional[float] = None, z: Any = None,
         mask: Any = None, bias: Any = None, alibi: Any = None, sinks: Any = None, segments: Any = None,
         model: Optional[str] = None, stream: Optional[str] = None, step: Optional[int] = None) -> None:
    """Writes q, k and v, tensors of PyTorch or NumPy, to a .safetensors file that Fovea opens.

    q is [H, nq, d], k [Hkv, nk, d] and v [Hkv, nk, dv]; [n, d] is one head, [1, H, n, d] a batch of one. v may be
    None: then Fovea shows weights, and outputs are not known. z, the output of a model, is [H, nq, dv]. `mask` is
    Boolean (True: may attend) or float (added to the logits), [nk], [nq, nk] or [H, nq, nk]; `bias` likewise, float;
    `alibi` and `sinks` are [H]. `segments` is [nk]: tokens of different segments do not meet; query i belongs to the
    segment of key i + nk - nq. `name` is that of the call in the file, "layer0" by default. What is not given is left
    to Fovea: the scale 1 / sqrt(d), no mask.
    `stream` and `step` are what `fovea.show` writes of its name and step; then both make the same bytes.
    An existing file is replaced when the new one is complete. Raises FoveaError for shapes that do not fit.
    """
    call = call_of(q, k, v, tokens=tokens, key_tokens=key_tokens, scale=scale, causal=causal, window=window,
                   softcap=softcap, z=z, mask=mask, bias=bias, alibi=alibi, sinks=sinks, segments=segments,
                   model=model)
    with TensorWriter(path) as file:
        file.finish(write_call(file, call, name, stream, step))


def write_call(file: Union[TensorWriter, TensorBytes], call: Call, name: Optional[str], stream: Optional[str],
               step: Optional[int]) -> Dict[str, str]:
    """Adds the tensors of one call, and returns the metadata of the file."""
    prefix = name or "layer0"
    metadata = shared_metadata({prefix: call.write(file, prefix)})
    if stream is not None:
        metadata["stream"] = stream
    if step is not None:
        metadata["step"] = str(int(step))
    return metadata


def call_of(q: Any, k: Any, v: Any, *, tokens: Optional[Sequence[str]] = None,
            key_tokens: Optional[Sequence[str]] = None, scale: Optional[float] = None, causal: Optional[bool] = None,
            window: Optional[int] = None, softcap: Optional[float] = None, z: Any = None, mask: Any = None,
            bias: Any = None, alibi: Any = None, sinks: Any = None, segments: Any = None,
            model: Optional[str] = None) -> Call:
    """The call of the arrays that `save` takes. Raises FoveaError for shapes that do not fit."""
    q, k, v = _heads(q, "q"), _heads(k, "k"), None if v is None else _heads(v, "v")
    heads, nq, nk = int(q.shape[0]), int(q.shape[1]), int(k.shape[1])
    given = [None if array is None else numbers_of(array) if is_torch(array) else _array(array)
             for array in (alibi, sinks, segments)]
    conditions = Conditions(scale, causal, window, softcap, None, None, *given)
    conditions = recognised(conditions, nq, nk, heads, *(
        None if array is None else array if is_torch(array) else _array(array) for array in (mask, bias)))
    if causal is None and mask is None and bias is None:
        conditions.causal = None
    return Call(q, k, v, None if z is None else _heads(z, "z"), conditions, tokens, key_tokens, model)


def _array(array: Any) -> Any:
    from .errors import need

    return need("numpy", "Saving arrays").asarray(array)


def _heads(array: Any, name: str) -> Any:
    """[H, n, d] of [n, d], [H, n, d] or [1, H, n, d]."""
    array = array if is_torch(array) else _array(array)
    if len(array.shape) == 4 and array.shape[0] == 1:
        return array[0]
    if len(array.shape) == 2:
        return array[None]
    if len(array.shape) != 3:
        raise FoveaError(f"{name} has the shape {list(array.shape)}; expected [n, d], [H, n, d] or [1, H, n, d]")
    return array
