"""Sees the attention of models of transformers, and their recurrences, in the functions that compute them.

Their modules ask `AttentionInterface` for the function of their implementation ("sdpa", or the model's own
"eager") at every call. While a recording runs, the answer is that function with a recorder around it. So the
model computes as ever, with the masks made for its implementation, and need not be known beforehand; nothing on
it is changed. (A function registered under a name of its own would need a mask function under the same name,
and a soft cap, sinks and biases computed once more.)

Recurrences are computed by functions that the file of a model defines or imports, which are replaced there
(recurrent_layers.py).
"""
from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Dict, Tuple

from .recurrent_layers import FUNCTIONS

SEEN = "_fovea_sees"
EAGER = "eager_attention_forward"
# They bring masks of their own forms, and run where this package cannot look.
UNSEEN = ("flash_attention", "flex_attention", "paged", "kernels-community")


class Registry:
    """Between start and stop, `call(function, kind, args, kwargs)` runs in the place of attention functions.

    `kind` is "sdpa", or "eager" for a function of the model's own, or the name of one that cannot be seen;
    `function(*args, **kwargs)` computes. So does `recur(function, name, args, kwargs)` in the place of recurrences,
    whose names are those of FUNCTIONS.
    """

    def __init__(self, call: Callable[[Any, str, Tuple[Any, ...], Dict[str, Any]], Any],
                 recur: Callable[[Any, str, Tuple[Any, ...], Dict[str, Any]], Any]) -> None:
        self._call, self._recur = call, recur
        self._interface: Any = None
        self._saved: Dict[str, Any] = {}
        self._own: Dict[Tuple[Any, str], Any] = {}  # what is replaced in modules of Python, by its names there

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
        """Replaces functions that models call by name: recurrences, and before transformers 5 "eager" ones."""
        kinds = {kind for module in root.modules() for kind in type(module).__mro__}
        for home in {sys.modules.get(kind.__module__) for kind in kinds}:
            if self._interface is not None and "get_interface" not in self._saved:
                self._replace(home, EAGER, lambda function: self.seeing(function, "eager"))
            for name in FUNCTIONS:
                self._replace(home, name, functools.partial(self._recurring, name))

    def _replace(self, home: Any, name: str, seeing: Callable[[Any], Any]) -> None:
        function = getattr(home, name, None)
        if callable(function) and (home, name) not in self._own:
            self._own[home, name] = function
            setattr(home, name, seeing(function))

    def _recurring(self, name: str, function: Any) -> Any:
        @functools.wraps(function)
        def seen(*args: Any, **kwargs: Any) -> Any:
            return self._recur(function, name, args, kwargs)

        return seen

    def stop(self) -> None:
        for (home, name), function in self._own.items():
            setattr(home, name, function)
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
