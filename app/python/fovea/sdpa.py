"""Sees calls of torch.nn.functional.scaled_dot_product_attention and of multi_head_attention_forward.

A TorchFunctionMode sees every function of PyTorch that runs in its thread, whoever calls it. What functions of
PyTorch call themselves, and what other threads call, is seen in the function's place in torch.nn.functional.
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, Tuple

from .errors import need

Route = Callable[[Any, Tuple[Any, ...], Dict[str, Any]], Any]  # computes function(*args, **kwargs)


class Functions:
    """Between start and stop, `attention` runs in the place of the one function, `multihead` of the other."""

    def __init__(self, attention: Route, multihead: Route) -> None:
        self._attention = attention
        self._multihead = multihead
        self._saved: Any = None
        self._own: Any = None

    def start(self) -> None:
        functional = need("torch.nn.functional", "Recording a model")
        self._saved = functional.scaled_dot_product_attention

        @functools.wraps(self._saved)
        def seen(*args: Any, _original: Any = self._saved, **kwargs: Any) -> Any:
            return self._attention(_original, args, kwargs)

        self._own = functional.scaled_dot_product_attention = seen

    def stop(self) -> None:
        functional = need("torch.nn.functional", "Recording a model")
        if functional.scaled_dot_product_attention is self._own:
            functional.scaled_dot_product_attention = self._saved

    def mode(self) -> Any:
        """A context manager for one thread."""
        torch = need("torch", "Recording a model")
        overrides = need("torch.overrides", "Recording a model")
        routes = {torch._C._nn.scaled_dot_product_attention: self._attention,
                  torch.nn.functional.multi_head_attention_forward: self._multihead}

        class Mode(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
            def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                route = routes.get(function)
                if route is None:
                    return function(*args, **(kwargs or {}))
                return route(function, args, kwargs or {})

        return Mode()


def multihead_arguments(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments of multi_head_attention_forward by name."""
    functional = need("torch.nn.functional", "Recording a model")
    bound = inspect.signature(functional.multi_head_attention_forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
