"""Sees calls of torch.nn.functional.scaled_dot_product_attention, and softmaxes which are nobody's.

A TorchFunctionMode sees every function of PyTorch that runs in the block, whoever calls it.
"""
from __future__ import annotations

from typing import Any, Callable, Optional

from .errors import need


class Observer:
    """What a mode tells about. Both may be called often."""

    def attention(self, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: Optional[float], dropout: float,
                  z: Any) -> None:
        """q [..., H, nq, d], k and v [..., Hkv, nk, d]; the causal mask begins at the first key."""

    def softmax(self, weights: Any) -> None:
        """A softmax whose result has at least three axes."""

    def weights_asked(self) -> None:
        """torch.nn.MultiheadAttention was asked for its weights and will not use fast attention."""


def make_mode(observer: Observer) -> Any:
    """A context manager under which the observer is told."""
    torch = need("torch", "Recording a model")
    overrides = need("torch.overrides", "Recording a model")
    functional = torch.nn.functional
    attention = functional.scaled_dot_product_attention
    multihead = functional.multi_head_attention_forward
    softmaxes = {functional.softmax, torch.softmax, torch.Tensor.softmax}

    def see_attention(*args: Any, **kwargs: Any) -> Any:
        z = attention(*args, **kwargs)
        given = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale"), args))
        given.update(kwargs)
        observer.attention(given["query"], given["key"], given["value"], given.get("attn_mask"),
                           bool(given.get("is_causal", False)), given.get("scale"),
                           float(given.get("dropout_p") or 0.0), z)
        return z

    def inside(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        # Functions of PyTorch run without the mode, so that this one's call of attention is seen by its name.
        functional.scaled_dot_product_attention = see_attention
        try:
            return function(*args, **kwargs)
        finally:
            functional.scaled_dot_product_attention = attention

    class Mode(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if function is attention:
                return see_attention(*args, **kwargs)
            if function is multihead:
                if kwargs.get("need_weights", True):
                    observer.weights_asked()
                return inside(function, args, kwargs)
            result = function(*args, **kwargs)
            if function in softmaxes and getattr(result, "ndim", 0) >= 3:
                observer.softmax(result)
            return result

    return Mode()
