"""Writes the heads of one attention call that you have as arrays."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Union

from .call import Call, shared_metadata
from .compressed import compressed_of
from .conditions import Conditions, recognised
from .encoding import tokens_given
from .errors import FoveaError
from .gradients import check_names
from .recurrence import NAMES, Recurrence, gate_with_heads
from .rules import floating, mask_of, of_heads, positive, segments_of, window_of
from .selection import selection_of
from .writer import TensorBytes, TensorWriter


def save(path: "str | os.PathLike[str]", q: Any, k: Any, v: Any, *, tokens: Any = None, key_tokens: Any = None,
         name: Optional[str] = None, scale: Optional[float] = None, causal: Optional[bool] = None,
         window: Optional[int] = None, softcap: Optional[float] = None, z: Any = None, z_runs: Any = None,
         mask: Any = None, bias: Any = None, alibi: Any = None, sinks: Any = None, segments: Any = None,
         beta: Any = None, log_decay: Any = None, recurrence: Optional[str] = None, kept: Any = None,
         indices: Any = None, block_indices: Any = None, block_size: Any = None, k_extra: Any = None,
         v_extra: Any = None, extra_tokens: Any = None, extra_indices: Any = None,
         gradients: Optional[Mapping[str, Any]] = None, model: Optional[str] = None, stream: Optional[str] = None,
         step: Optional[int] = None) -> None:
    """Writes q, k and v, tensors of PyTorch or NumPy, to a .safetensors file that Fovea opens.

    q is [H, nq, d], k [Hkv, nk, d] and v [Hkv, nk, dv]; [n, d] is one head, [1, H, n, d] a batch of one. v may be
    None: then Fovea shows weights, and outputs are not known. z, the output of a model, is [H, nq, dv]. `z_runs` are
    outputs of more runs of a kernel on this input, a list of such arrays or [runs, H, nq, dv], of which the first is z
    if z is not given: Fovea says which rows are not the same each time. `mask` is Boolean or of integers 0 and 1, as a
    tokenizer's attention_mask (true, 1: may attend), or float (added to the logits), [nk], [nq, nk] or [H, nq, nk];
    `bias` likewise, float; `alibi` and `sinks` are [H]. `segments` is [nk]: tokens of different segments do not meet;
    query i belongs to the segment of key i + nk - nq. `tokens` and `key_tokens` are lists of strings, or what a
    tokenizer returned. `name` is that of the call in the file, "layer0" by default. What is not given is left to
    Fovea: the scale 1 / sqrt(d), no mask.
    `kept` says which pairs a kernel keeps, and becomes a column: a mask [nq, nk] or [H, nq, nk], one of blocks (with
    `block_size`, a number or queries and keys, where their number does not tell it), or a BlockMask of FlexAttention.
    `indices` lists them instead, the keys of each query as [nq, most] or [H, nq, most] (-1: none), and `block_indices`
    the blocks of keys of each query or block of queries.
    `recurrence` is "delta" for heads of Gated DeltaNet or KDA, "linear" for Mamba-2 and gated linear attention, with
    `beta` [H, n] (1 by default) and `log_decay` [H, n], or [H, n, d] for each channel of the keys (0 by default); as in
    q, the axis of heads may be left out for one head, and a batch of one may come before it. q and k are then those
    that the recurrence uses, brought to norm 1 if it does that. It is causal, and `beta` alone says "delta".
    `k_extra` [Hkv, m, d] and `v_extra` [Hkv, m, dv] are compressed entries, keys and values that each stand for tokens,
    as those of CSA and HCA: entry c for the tokens from `extra_tokens[c, 0]` to before `extra_tokens[c, 1]`, in their
    order. A query attends, beside the tokens of `window`, the entries that have closed, or of them those that
    `extra_indices` [nq, most] or [H, nq, most] lists (-1: none). The head is causal unless `causal` says otherwise.
    `gradients` are those of a loss in a backward pass: `dz`, by z, has the shape of z, and one or more of `dq`, `dk`
    and `dv` have those of q, k and v; `dk` and `dv` may also be of every query head. Fovea says which rows are not the
    gradients of the attention.
    `stream` and `step` are what `fovea.show` writes of its name and step; then both make the same bytes.
    An existing file is replaced when the new one is complete. Raises FoveaError for what does not fit, and for
    all that the program would refuse.
    """
    call = call_of(q, k, v, tokens=tokens, key_tokens=key_tokens, scale=scale, causal=causal, window=window,
                   softcap=softcap, z=z, z_runs=z_runs, mask=mask, bias=bias, alibi=alibi, sinks=sinks,
                   segments=segments, beta=beta, log_decay=log_decay, recurrence=recurrence, kept=kept, indices=indices,
                   block_indices=block_indices, block_size=block_size, k_extra=k_extra, v_extra=v_extra,
                   extra_tokens=extra_tokens, extra_indices=extra_indices, gradients=gradients, model=model)
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


def call_of(q: Any, k: Any, v: Any, *, tokens: Any = None, key_tokens: Any = None, scale: Optional[float] = None,
            causal: Optional[bool] = None, window: Optional[int] = None, softcap: Optional[float] = None,
            z: Any = None, z_runs: Any = None, mask: Any = None, bias: Any = None, alibi: Any = None,
            sinks: Any = None, segments: Any = None, beta: Any = None, log_decay: Any = None,
            recurrence: Optional[str] = None, kept: Any = None, indices: Any = None, block_indices: Any = None,
            block_size: Any = None, k_extra: Any = None, v_extra: Any = None, extra_tokens: Any = None,
            extra_indices: Any = None, gradients: Optional[Mapping[str, Any]] = None, model: Optional[str] = None) -> Call:
    """The call of the arrays that `save` takes. Raises FoveaError for what does not fit."""
    q, k = _heads(q, "q"), _heads(k, "k")
    v, z = (None if array is None else _heads(array, name) for array, name in ((v, "v"), (z, "z")))
    heads, nq, nk = int(q.shape[0]), int(q.shape[1]), int(k.shape[1])
    conditions = Conditions(positive(scale, "scale"), None if causal is None else bool(causal), window_of(window),
                            positive(softcap, "softcap"), None, None, of_heads(alibi, "alibi"),
                            of_heads(sinks, "sinks"), segments_of(segments))
    conditions = recognised(conditions, nq, nk, heads, mask_of(mask), None if bias is None else floating(bias, "bias"))
    if causal is None and mask is None and bias is None:
        conditions.causal = None
    gates = _recurrence(beta, log_decay, recurrence, q)
    if gates is not None and conditions.causal is None:
        conditions.causal = True
    entries = compressed_of(*(None if array is None else _heads(array, name)
                              for array, name in ((k_extra, "k_extra"), (v_extra, "v_extra"))), extra_tokens,
                            extra_indices)
    if entries and conditions.causal is None:
        conditions.causal = True
    return Call(q, k, v, z, conditions, tokens_given(tokens, "tokens"), tokens_given(key_tokens, "key_tokens"), model,
                z_runs=_runs(z_runs),
                kept=selection_of(kept, indices, block_indices, block_size), recurrence=gates,
                gradients={} if gradients is None else _gradients(gradients), compressed=entries)


def _recurrence(beta: Any, log_decay: Any, name: Optional[str], q: Any) -> Optional[Recurrence]:
    if beta is None and log_decay is None and name is None:
        return None
    if name not in (None, *NAMES):
        raise FoveaError(f"recurrence is {name!r}; expected {' or '.join(map(repr, NAMES))}")
    erases = beta is not None if name is None else name == "delta"
    beta, log_decay = (None if array is None else gate_with_heads(floating(array, what), what, q)
                       for array, what in ((beta, "beta"), (log_decay, "log_decay")))
    return Recurrence(erases, log_decay=log_decay, beta=beta)


def _gradients(given: Mapping[str, Any]) -> Dict[str, Any]:
    check_names(given)
    return {name: _heads(array, name) for name, array in given.items() if array is not None}


def _runs(given: Any) -> List[Any]:
    if given is None:
        return []
    if not isinstance(given, (list, tuple)) and len(getattr(given, "shape", ())) < 3:
        raise FoveaError(f"z_runs is a {type(given).__name__}; expected a list of outputs, or [runs, H, nq, dv]")
    return [_heads(each, "z_runs") for each in given]


def _heads(array: Any, name: str) -> Any:
    """[H, n, d] of [n, d], [H, n, d] or [1, H, n, d]."""
    array = floating(array, name)
    if len(array.shape) == 4 and array.shape[0] == 1:
        return array[0]
    if len(array.shape) == 2:
        return array[None]
    if len(array.shape) != 3:
        raise FoveaError(f"{name} has the shape {list(array.shape)}; expected [n, d], [H, n, d] or [1, H, n, d]")
    return array
