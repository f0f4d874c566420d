"""Watches for attention in whatever runs, in every thread, by four routes.

Each route tells of the calls that it sees, once they are computed, and covers what runs inside them; what is
attention and neither covered nor told of is missed, and `Unseen` keeps that.
"""
from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Iterator, List, Set, Tuple

from . import bloom
from .beneath import Beneath, Softmax, used_weights
from .errors import FoveaError, need
from .modules import ModuleStack
from .places import Places
from .registry import Registry
from .sdpa import Functions, multihead_arguments
from .seen import SeenAny, of_bloom, of_sdpa, of_softmax, of_transformers
from .unseen import Unseen


class _Here(threading.local):
    """Where a thread is."""

    def __init__(self) -> None:
        self.covered = 0  # functions inside which nothing is looked for
        self.watched = False
        self.told = 0  # calls of attention, whether recorded or missed
        self.dropout = 0.0  # of the function around, which was called without it


class Watch:
    """Between start and stop, `see` is told of every call of attention, and `unseen` of what is missed."""

    def __init__(self, see: Callable[[SeenAny], None], unseen: Unseen) -> None:
        self._see = see
        self._unseen = unseen
        self.roots: List[str] = []  # their types
        self._here = _Here()
        self._parameters: Set[int] = set()  # storages
        self._lengths: Set[int] = set()  # numbers of queries and keys that were seen
        self._hooks: List[Any] = []
        self._block = contextlib.ExitStack()
        self.stack = ModuleStack(self._know, self._thread)
        self.places = Places(self.stack)
        self._registry = Registry(self._transformers)
        self._functions = Functions(self._sdpa, self._multihead)
        self._beneath = Beneath(self._skips, lambda: self.stack.innermost, self._parameters, self._softmax,
                                self._operation)

    def start(self) -> None:
        compiler = need("torch.compiler", "Recording a model")
        if hasattr(compiler, "set_stance"):  # what was compiled could not be watched
            self._block.enter_context(compiler.set_stance("force_eager"))
        for part in (self._registry, self._functions, self.stack):
            self._block.callback(part.stop)
            part.start()
        self._block.enter_context(self._thread())

    def stop(self) -> None:
        self._block.close()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    @contextlib.contextmanager
    def _thread(self) -> Iterator[None]:
        """Watches the thread that runs this, once."""
        if self._here.watched:
            yield
            return
        with self._functions.mode(), self._beneath.mode():
            self._here.watched = True
            try:
                yield
            finally:
                self._here.watched = False
                self._here.covered = 0

    def _know(self, root: Any) -> None:
        self.roots.append(type(root).__name__)
        self.places.know(root)
        self._registry.know(root)
        with contextlib.suppress(Exception):  # of parameters that have no storage
            self._parameters.update(each.untyped_storage()._cdata for each in root.parameters())
        for module in root.modules():
            if bloom.is_bloom(module):
                self._hooks += bloom.attach(module, self._bloom)

    @contextlib.contextmanager
    def _cover(self) -> Iterator[None]:
        self._here.covered += 1
        try:
            yield
        finally:
            self._here.covered -= 1

    def _skips(self) -> bool:
        return bool(self._here.covered) or bloom.is_bloom(self.stack.innermost)

    def _met(self) -> str:
        """Attention was computed. Where, in words."""
        self._here.told += 1
        self.places.met(self.stack.innermost)
        return self.stack.where()

    def _tell(self, make: Callable[[], SeenAny]) -> None:
        """Tells of a call. Whatever goes wrong with it is kept, and is not the model's affair."""
        torch = need("torch", "Recording a model")
        self._met()
        with self._unseen.leaving_out(self.stack.where), self._cover(), torch.no_grad():
            seen = make()
            self._lengths |= {seen.queries, seen.keys}
            self._see(seen)

    # The routes.

    def _passes(self) -> bool:
        return bool(self._here.covered) or need("torch", "Recording a model").compiler.is_compiling()

    def _transformers(self, function: Any, kind: str, args: Any, kwargs: Dict[str, Any]) -> Any:
        if self._passes():
            return function(*args, **kwargs)
        if kind not in ("sdpa", "eager"):
            before = self._here.told
            result = function(*args, **kwargs)
            if self._here.told == before:
                self._unseen.operation(kind, self._met())
            return result
        with self._cover():
            result = function(*args, **kwargs)
        names = ("module", "query", "key", "value", "attention_mask")
        given = {**dict(zip(names, args)), **kwargs}
        module = given["module"]
        self._tell(lambda: of_transformers(module, kind, given, result[0], self.places.is_cross(module)))
        return result

    def _sdpa(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if self._passes():
            return function(*args, **kwargs)
        with self._cover():
            z = function(*args, **kwargs)

        def call() -> SeenAny:
            seen = of_sdpa(self.stack.innermost, args, kwargs, z)
            seen.dropout = max(seen.dropout, self._here.dropout)
            return seen

        self._tell(call)
        return z

    def _multihead(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Where weights are asked for, PyTorch computes without the function that is watched."""
        if self._passes():
            return function(*args, **kwargs)
        given = multihead_arguments(args, kwargs)
        if not given["need_weights"]:
            return function(*args, **kwargs)
        with self._cover():
            result = function(*args, **kwargs)
        torch = need("torch", "Recording a model")
        with self._unseen.leaving_out(self.stack.where), torch.no_grad():
            # Once more, with the same output, of which the watched function is told. Without dropout no random
            # number is drawn.
            self._here.dropout = float(given["dropout_p"]) if given["training"] else 0.0
            try:
                function(**{**given, "need_weights": False, "training": False})
            finally:
                self._here.dropout = 0.0
        return result

    def _bloom(self, module: Any, arguments: Callable[[], Tuple[Any, ...]]) -> None:
        self._tell(lambda: of_bloom(module, *arguments()))

    def _operation(self, name: str) -> None:
        self._unseen.operation(name, self._met())

    def _softmax(self, softmax: Softmax, operand: Any) -> None:
        """Attention that a module computes by itself."""
        module = softmax.module
        keys = int(softmax.weights.shape[-1])
        named = "att" in f"{type(module).__name__}.{self.stack.path(module)}".lower()
        if module is not None and not named and keys not in self._lengths | self.stack.sizes:
            return  # over streams, bins or experts
        where = self.stack.where()

        def call() -> SeenAny:
            weights = used_weights(softmax, operand)
            if weights is None:
                raise FoveaError(f"it computes weights in pieces, {list(softmax.weights.shape)}")
            seen = of_softmax(module, weights, self.stack.running)
            self._unseen.weights_alone(where, module)
            return seen

        self._tell(call)
