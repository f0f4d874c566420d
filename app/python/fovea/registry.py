"""Sees the attention of models of transformers, in the function that computes it.

Their modules ask `AttentionInterface` for the function of their implementation ("sdpa", or the model's own
"eager") at every call. While a recording runs, the answer is that function with a recorder around it. So the
model computes as ever, with the masks made for its implementation, and need not be known beforehand; nothing on
it is changed. (A function registered under a name of its own would need a mask function under the same name,
and a soft cap, sinks and biases computed once more.)
"""
from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Dict, Tuple

SEEN = "_fovea_sees"
EAGER = "eager_attention_forward"
# They bring masks of their own forms, and run where this package cannot look.
UNSEEN = ("flash_attention", "flex_attention", "paged", "kernels-community")


class Registry:
    """Between start and stop, `call(function, kind, args, kwargs)` runs in the place of attention functions.

    `kind` is "sdpa", or "eager" for a function of the model's own, or the name of one that cannot be seen;
    `function(*args, **kwargs)` computes.
    """

    def __init__(self, call: Callable[[Any, str, Tuple[Any, ...], Dict[str, Any]], Any]) -> None:
        self._call = call
        self._interface: Any = None
        self._saved: Dict[str, Any] = {}
        self._own: Dict[Any, Any] = {}  # the modules of Python whose eager functions are replaced

    def start(self) -> None:
        """Does nothing while transformers is not imported, when no model of it is there, and after the first time."""
        if self._interface is not None:
            return
        utils = sys.modules.get("transformers.modeling_utils")
        self._interface = getattr(utils, "AttentionInterface", None)
        if self._interface is None:
            return
        registry = self
        for name in ("get_interface", "__getitem__"):  # the first since transformers 5, the second before it
            original = getattr(self._interface, name, None)
            if original is None:
                continue
            self._saved[name] = self._interface.__dict__.get(name)

            def ask(self: Any, *args: Any, _original: Any = original, **kwargs: Any) -> Any:
                key = args[0] if args else next(iter(kwargs.values()), "")
                return registry.seeing(_original(self, *args, **kwargs), key)

            setattr(self._interface, name, ask)

    def know(self, root: Any) -> None:
        """Before transformers 5, models call their own "eager" functions by name, without asking for them."""
        if self._interface is None or "get_interface" in self._saved:
            return
        for name in {type(module).__module__ for module in root.modules()}:
            home = sys.modules.get(name)
            function = getattr(home, EAGER, None)
            if callable(function) and home not in self._own:
                self._own[home] = function
                setattr(home, EAGER, self.seeing(function, "eager"))

    def stop(self) -> None:
        for home, function in self._own.items():
            setattr(home, EAGER, function)
        self._own = {}
        for name, original in self._saved.items():
            if original is None:
                delattr(self._interface, name)
            else:
                setattr(self._interface, name, original)
        self._saved = {}
        self._interface = None

    def seeing(self, function: Any, key: Any) -> Any:
        """The function with the recorder around it."""
        if getattr(function, SEEN, None) is self or not callable(function):
            return function
        name = getattr(function, "__name__", "")
        kind = "sdpa" if name == "sdpa_attention_forward" else "eager"
        if str(key).startswith(UNSEEN) or "/" in str(key):
            kind = str(key)

        @functools.wraps(function)
        def seen(*args: Any, **kwargs: Any) -> Any:
            return self._call(function, kind, args, kwargs)

        setattr(seen, SEEN, self)
        return seen
