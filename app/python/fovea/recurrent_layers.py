"""Sees layers of transformers that compute a recurrence: Gated DeltaNet, KDA and the SSD of Mamba-2.

Their modules call functions of the file that the model is in, which are the same in all models. A row of FUNCTIONS says
what the arguments of one mean. Kernels that transformers has found in other packages run inside these functions.
"""
from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, Callable, Dict, Tuple

from .arrays import ROUNDING, type_of
from .errors import FoveaError, need
from .seen import SeenRecurrence


def seen_recurrence(module: Any, name: str, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any],
                    result: Any) -> SeenRecurrence:
    """A call of the function of FUNCTIONS with this name."""
    given = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    given.update(given.pop("kwargs", {}))
    packed = any(given.get(each) is not None for each in ("cu_seqlens", "seq_idx"))
    seen = FUNCTIONS[name](module, function, given, result[0] if isinstance(result, tuple) else result)
    return replace(seen, refusal="it runs several texts in one row: run them as a batch") if packed else seen


def of_delta_rule(module: Any, function: Any, given: Dict[str, Any], output: Any) -> SeenRecurrence:
    """Gated DeltaNet, or KDA, whose decays have a channel axis. All tensors are [B, n, heads, ...]."""
    q, k = given["query"], given["key"]
    if given.get("use_qk_l2norm_in_kernel"):
        q, k = _normed(q), _normed(k)
    scale = q.shape[-1] ** -0.5 if given.get("scale") is None else float(given["scale"])
    return SeenRecurrence(module, _by_heads(q), _by_heads(k), _by_heads(given["value"]), lambda: _by_heads(output),
                          True, _by_heads(given["g"]), scale, _by_heads(given["beta"]), given.get("initial_state"))


def of_scan(module: Any, function: Any, given: Dict[str, Any], output: Any) -> SeenRecurrence:
    """The SSD of Mamba-2: queries are C, keys B and values dt x. Its skip, D x, is no part of the recurrence."""
    functional = need("torch.nn.functional", "Recording a model")
    x, dt = given["hidden_states"], given["dt"]
    if given.get("dt_bias") is not None:
        dt = dt + given["dt_bias"].to(dt.dtype)
    dt = functional.softplus(dt) if given.get("dt_softplus") else dt
    dt = dt.clamp(*given.get("dt_limit", (0.0, float("inf")))).float()
    return SeenRecurrence(module, _by_heads(given["C"]), _by_heads(given["B"]), _by_heads(x.float() * dt[..., None]),
                          lambda: _by_heads(_without_skip(function, given, output)), False,
                          _by_heads(given["A"].float() * dt), 1.0, state=given.get("initial_states"))


def of_scan_step(module: Any, function: Any, given: Dict[str, Any], output: Any) -> SeenRecurrence:
    """A token of Mamba-2 after others, of which no more than its shape matters: it goes on from a state."""
    x = given["hidden_states"][:, :, None]
    return SeenRecurrence(module, x, x, x, lambda: output[:, :, None], False, x[..., 0], 1.0, state=given["state"])


FUNCTIONS: Dict[str, Callable[[Any, Any, Dict[str, Any], Any], SeenRecurrence]] = {
    "torch_chunk_gated_delta_rule": of_delta_rule,
    "torch_recurrent_gated_delta_rule": of_delta_rule,
    "chunk_kimi_delta_attention": of_delta_rule,
    "recurrent_kimi_delta_attention": of_delta_rule,
    "mamba2_chunk_scan": of_scan,
    "mamba2_selective_state_update": of_scan_step,
}


def _without_skip(function: Any, given: Dict[str, Any], output: Any) -> Any:
    """The output of a scan without D x, which may be most of it: computed again, rather than by a difference."""
    d = given.get("D")
    if d is None:
        return output
    z = function(**{**given, "D": None, "return_final_states": False})
    skip = (d if d.ndim == 2 else d[:, None]) * given["hidden_states"].float()
    largest = max(float(z.abs().max()), float(skip.abs().max()))
    if not float((z + skip - output).abs().max()) <= 4 * ROUNDING.get(type_of(output), 0.0) * largest:
        raise FoveaError("its output is another one than that of its scan and D x")
    return z


def _by_heads(array: Any) -> Any:
    return array.transpose(1, 2)


def _normed(array: Any) -> Any:
    """As the kernels do it, in float32."""
    array = array.float()
    return array * (array.square().sum(-1, keepdim=True) + 1e-6).rsqrt()
