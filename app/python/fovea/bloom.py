"""Sees the attention of BLOOM, which computes it in its own module, without a function that could be watched.

Hooks on the module and its two projections see what goes in and what comes out.
"""
from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Tuple


def attach(module: Any, seen: Callable[..., None]) -> List[Any]:
    """Hooks of one BloomAttention. `seen(module, arguments)` runs after every call; arguments() returns
    q, k, v, mask, alibi, scale, z.

    q [B, H, nq, d], k and v [B, H, nk, d], z [B, nq, H, d], mask [B, 1, nq, nk] float or None, alibi [B, H, 1, nk].
    """
    state = threading.local()  # of the call that runs in a thread

    def fused(_: Any, inputs: Any, output: Any) -> None:
        state.qkv = output

    def merged(_: Any, inputs: Any) -> None:
        state.z = inputs[0]

    def done(_: Any, args: Any, kwargs: Dict[str, Any], output: Any) -> None:
        seen(module, lambda: arguments(args, kwargs))

    def arguments(args: Any, kwargs: Dict[str, Any]) -> Tuple[Any, ...]:
        names = ("hidden_states", "residual", "alibi", "attention_mask", "layer_past")
        given = {**dict(zip(names, args)), **kwargs}
        q, k, v = module._reshape(state.qkv)
        past = given.get("layer_past")
        if past is not None:  # after the call the cache holds all keys
            k, v = past.layers[module.layer_idx].keys, past.layers[module.layer_idx].values
        z = state.z
        del state.qkv, state.z
        batch, queries = z.shape[:2]
        alibi = given["alibi"].view(batch, module.num_heads, 1, -1)
        return (q, k, v, given.get("attention_mask"), alibi, module.inv_norm_factor,
                z.view(batch, queries, module.num_heads, module.head_dim))

    return [
        module.query_key_value.register_forward_hook(fused),
        module.dense.register_forward_pre_hook(merged),
        module.register_forward_hook(done, with_kwargs=True),
    ]


def is_bloom(module: Any) -> bool:
    return type(module).__name__ == "BloomAttention" and hasattr(module, "query_key_value") and hasattr(
        module, "inv_norm_factor")
