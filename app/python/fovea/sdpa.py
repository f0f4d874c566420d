"""Sees calls of torch.nn.functional.scaled_dot_product_attention and of multi_head_attention_forward.

A TorchFunctionMode sees every function of PyTorch that runs in its thread, whoever calls it.
"""
from __future__ import annotations

import importlib
import inspect
import types
from typing import Any, Callable, Dict, Optional, Tuple

from .errors import need

Route = Callable[[Any, Tuple[Any, ...], Dict[str, Any]], Any]  # computes function(*args, **kwargs)


class Functions:
    """`attention` runs in the place of the one function, `multihead` of the other."""

    def __init__(self, attention: Route, multihead: Route) -> None:
        self._attention = attention
        self._multihead = multihead
        self._mode: Any = None

    def mode(self) -> Any:
        """A mode for one thread."""
        self._mode = self._mode or self._class()
        return self._mode()

    def _class(self) -> Any:
        functional = need("torch.nn.functional", "Recording a model")
        overrides = need("torch.overrides", "Recording a model")
        attention, multihead = functional.scaled_dot_product_attention, functional.multi_head_attention_forward

        class Mode(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
            def __torch_function__(mode, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if function is attention:
                    return self._attention(function, args, kwargs or {})
                if function is multihead:
                    return self._multihead(function, args, kwargs or {})
                return function(*args, **(kwargs or {}))

        return Mode

    def seeing(self) -> Any:
        """multi_head_attention_forward with a call of attention that is seen where there are no modes."""
        functional = need("torch.nn.functional", "Recording a model")
        attention, multihead = functional.scaled_dot_product_attention, functional.multi_head_attention_forward

        def seen(*args: Any, **kwargs: Any) -> Any:
            return self._attention(attention, args, kwargs)

        names = {**multihead.__globals__, "scaled_dot_product_attention": seen}
        copy = types.FunctionType(multihead.__code__, names, multihead.__name__, multihead.__defaults__,
                                  multihead.__closure__)
        copy.__kwdefaults__ = multihead.__kwdefaults__
        return copy


def multihead_arguments(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """The arguments of multi_head_attention_forward by name; None where they are wrong."""
    functional = need("torch.nn.functional", "Recording a model")
    try:
        bound = inspect.signature(functional.multi_head_attention_forward).bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    return dict(bound.arguments)


class CausalBias:
    """Between start and stop, masks of torch.nn.attention.bias can be made under a TorchDispatchMode.

    PyTorch cannot make a tensor by the constructor of its kind there.
    """

    def __init__(self) -> None:
        self._kind: Any = None

    def start(self) -> None:
        try:
            kind = importlib.import_module("torch.nn.attention.bias").CausalBias
        except (ImportError, AttributeError):
            return
        if "__new__" not in kind.__dict__:
            empty = need("torch", "Recording a model").empty
            kind.__new__ = lambda cls, *_, **__: empty(0).as_subclass(cls)
            self._kind = kind

    def stop(self) -> None:
        if self._kind is not None:
            del self._kind.__new__
            self._kind = None


def has_others(given: Dict[str, Any]) -> bool:
    """Whether other modes, or tensors of kinds that have functions of their own, take part in a function."""
    overrides = need("torch.overrides", "Recording a model")
    return bool(overrides.has_torch_function(tuple(each for each in given.values() if hasattr(each, "shape"))))
