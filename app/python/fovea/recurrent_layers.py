"""Sees layers that compute a recurrence: Gated DeltaNet, KDA, gated linear attention and the SSD of Mamba-2.

Models of transformers call functions of the file that they are in, which are the same in all of them; kernels of other
packages run inside these. Models of fla, and others that import its functions by name, call those. A row of FUNCTIONS
says what the arguments of one mean.
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, Tuple

from .arrays import ROUNDING, type_of
from .errors import FoveaError, need
from .seen import SeenRecurrence


def seen_recurrence(module: Any, name: str, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any],
                    result: Any) -> SeenRecurrence:
    """A call of the function of FUNCTIONS with this name."""
    given = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    given.update(given.pop("kwargs", {}))
    seen = FUNCTIONS[name](module, function, given, result[0] if isinstance(result, tuple) else result)
    if any(given.get(each) is not None for each in ("cu_seqlens", "seq_idx")):
        seen.refusal = "it runs texts of several lengths in one row: run one text at a time"
    return seen


def of_rule(erases: bool, module: Any, function: Any, given: Dict[str, Any], output: Any) -> SeenRecurrence:
    """The delta rule, or gated linear attention. Tensors are [B, n, heads, ...]; decays may have an axis of channels."""
    q, k, v = (given[name] if name in given else given[name[0]] for name in ("query", "key", "value"))  # or q, k, v
    if given.get("use_qk_l2norm_in_kernel"):
        q, k = _normed(q), _normed(k)
    scale = q.shape[-1] ** -0.5 if given.get("scale") is None else float(given["scale"])
    return SeenRecurrence(module, _by_heads(q), _by_heads(k), _by_heads(v), lambda: _by_heads(output), erases,
                          _by_heads(_log_decay(given)), scale, _by_heads(_beta(given)), given.get("initial_state"))


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
    **{name: functools.partial(of_rule, True) for name in (
        "torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule",  # of transformers
        "chunk_kimi_delta_attention", "recurrent_kimi_delta_attention",
        "chunk_gated_delta_rule", "fused_recurrent_gated_delta_rule",  # of fla
        "chunk_kda", "fused_recurrent_kda", "chunk_delta_rule", "fused_recurrent_delta_rule")},
    **{name: functools.partial(of_rule, False) for name in (
        "chunk_simple_gla", "fused_recurrent_simple_gla", "chunk_gla", "fused_recurrent_gla")},
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
    if not float((z + skip - output).abs().max()) <= 4 * ROUNDING[type_of(output)] * largest:
        raise FoveaError("its output is another one than that of its scan and D x")
    return z


def _log_decay(given: Dict[str, Any]) -> Any:
    """[B, n, H] or [B, n, H, d]; None: 0. Kernels of fla may compute it of raw gates."""
    functional = need("torch.nn.functional", "Recording a model")
    gates = given.get("gk") if given.get("g") is None else given["g"]
    if gates is None or not given.get("use_gate_in_kernel"):
        return gates
    gates, rates, bound = gates.float(), 1.0, given.get("lower_bound")
    if given.get("dt_bias") is not None:
        gates = gates + given["dt_bias"].float().view(gates.shape[2:])
    if given.get("A_log") is not None:  # KDA with a bound may do without it
        rates = given["A_log"].float().exp().view(-1, *[1] * (gates.ndim - 3))
    return -rates * functional.softplus(gates) if bound is None else bound * (rates * gates).sigmoid()


def _beta(given: Dict[str, Any]) -> Any:
    """[B, n, H]; None: 1. Kernels of fla may compute it of raw gates."""
    beta = given.get("beta")
    if beta is None or not given.get("use_beta_sigmoid_in_kernel"):
        return beta
    return beta.float().sigmoid() * (2 if given.get("allow_neg_eigval") else 1)


def _by_heads(array: Any) -> Any:
    return None if array is None else array.transpose(1, 2)


def _normed(array: Any) -> Any:
    """As the kernels do it, in float32."""
    array = array.float()
    return array * (array.square().sum(-1, keepdim=True) + 1e-6).rsqrt()
