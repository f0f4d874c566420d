"""Watches for attention in whatever runs, in every thread, by four routes.

Each route reports a call after it ran. While the call runs, the other routes are off in this thread (`covered`).
Attention that no route reports goes to `Unseen`.
"""
from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Set, Tuple

from . import bloom
from .beneath import Beneath, Listener, Softmax, used_weights
from .errors import FoveaError, need
from .modules import ModuleStack
from .places import Places
from .registry import Registry
from .sdpa import CausalBias, Functions, multihead_arguments
from .seen import SeenAny, SeenWeights, heads_of, of_bloom, of_sdpa, of_softmax, of_transformers
from .unseen import Unseen


class _Here(threading.local):
    """Where a thread is."""

    def __init__(self) -> None:
        self.covered = 0  # functions inside which nothing is looked for
        self.mode: Any = None
        self.pieces: Dict[int, Pieces] = {}  # by modules that run
        self.reported = 0  # calls of attention, whether recorded or missed
        self.dropout = 0.0  # of the function around, which was called without it


@dataclass
class Pieces:
    """The weights that a module has computed by itself in this call of it."""

    seen: List[SeenWeights] = field(default_factory=list)
    fault: str = ""  # why they are not those of a whole attention


class Watch(Listener):
    """Between start and stop, `see` gets every call of attention, and `unseen` what was missed."""

    def __init__(self, see: Callable[[SeenAny], None], unseen: Unseen) -> None:
        self._see = see
        self._unseen = unseen
        self.roots: List[str] = []  # their types
        self._here = _Here()
        self._parameters: Set[int] = set()  # storages
        self._lengths: Set[int] = set()  # numbers of queries and keys that were seen
        self._hooks: List[Any] = []
        self._block = contextlib.ExitStack()
        self.stack = ModuleStack(self._know, self._thread, self._left)
        self.places = Places(self.stack)
        self._registry = Registry(self._transformers)
        self._functions = Functions(self._sdpa, self._multihead)
        self._causal_bias = CausalBias()
        self._beneath = Beneath(self, self._parameters)

    def start(self) -> None:
        compiler = need("torch.compiler", "Recording a model")
        if hasattr(compiler, "set_stance"):  # what was compiled could not be watched
            self._block.enter_context(compiler.set_stance("force_eager"))
        for part in (self._registry, self._causal_bias, self.stack):
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
        here = self._here
        if here.mode is not None:
            yield
            here.mode.drop_waiting()
            return
        with self._functions.mode(), self._beneath.mode() as here.mode:
            try:
                yield
                here.mode.drop_waiting()
            finally:
                here.mode, here.covered, here.pieces = None, 0, {}

    def _know(self, root: Any) -> None:
        self.roots.append(type(root).__name__)
        with self._unseen.leaving_out(lambda: type(root).__name__):
            self.places.know(root)
            self._registry.know(root)
            for module in root.modules():
                if bloom.is_bloom(module):
                    self._hooks += bloom.attach(module, self._bloom)
        with contextlib.suppress(Exception):  # of parameters that have no storage
            self._parameters.update(each.untyped_storage()._cdata for each in root.parameters())

    @contextlib.contextmanager
    def _cover(self) -> Iterator[None]:
        self._here.covered += 1
        try:
            yield
        finally:
            self._here.covered -= 1

    def _met(self) -> str:
        """Attention was computed. Where, in words."""
        self._here.reported += 1
        self.places.met(self.stack.innermost)
        return self.where()

    def where(self) -> str:
        return self.stack.where(self.stack.innermost)

    def _tell(self, make: Callable[[], SeenAny]) -> None:
        """Tells of a call. Whatever goes wrong with it is kept, and is not the model's affair."""
        torch = need("torch", "Recording a model")
        self._met()
        with self.leaving_out(), self._cover(), torch.no_grad():
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
            before = self._here.reported
            result = function(*args, **kwargs)
            if self._here.reported == before:
                self._unseen.operation(kind, self._met())
            return result
        with self._cover():
            result = function(*args, **kwargs)

        def call() -> SeenAny:
            names = ("module", "query", "key", "value", "attention_mask")
            given = {**dict(zip(names, args)), **kwargs}
            return of_transformers(given["module"], kind, given, result[0], self.places.is_cross(given["module"]))

        self._tell(call)
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
        """Where weights are asked for, PyTorch computes without the function that is watched.

        `function` is one in which the call of that function is seen.
        """
        if self._passes():
            return function(*args, **kwargs)
        given = multihead_arguments(args, kwargs)
        if given is None or not given["need_weights"]:
            return function(*args, **kwargs)
        with self._cover():
            result = function(*args, **kwargs)
        torch = need("torch", "Recording a model")
        with self.leaving_out(), torch.no_grad():
            # The same call without its weights, which runs the watched function and has the same output. Without
            # dropout it draws no random number.
            self._here.dropout = float(given["dropout_p"]) if given["training"] else 0.0
            try:
                function(**{**given, "need_weights": False, "training": False})
            finally:
                self._here.dropout = 0.0
        return result

    def _bloom(self, module: Any, arguments: Callable[[], Tuple[Any, ...]]) -> None:
        self._tell(lambda: of_bloom(module, *arguments()))

    # What the operations tell of.

    def leaving_out(self) -> ContextManager:
        return self._unseen.leaving_out(self.where)

    def skips(self) -> bool:
        return bool(self._here.covered) or bloom.is_bloom(self.stack.innermost)

    def here(self) -> Tuple[Any, Optional[int], str]:
        module = self.stack.innermost
        return module, heads_of(self.stack.around(module)), self.where()

    def operation(self, name: str) -> None:
        self._unseen.operation(name, self._met())

    def length(self, tokens: int) -> None:
        self._lengths.add(tokens)

    def weights(self, softmax: Softmax, operand: Any) -> None:
        module = softmax.module
        if not self._over_tokens(softmax):
            return
        self._met()
        if not softmax.axis_is_last:
            return self._unseen.error("it computes a softmax over another axis than the last", softmax.where)
        pieces = Pieces() if module is None else self._here.pieces.setdefault(id(module), Pieces())
        with self._unseen.leaving_out(lambda: softmax.where), self._cover():
            try:
                weights = used_weights(softmax, operand)
                pieces.seen.append(of_softmax(module, weights, softmax.heads, softmax.where))
            except FoveaError as error:
                pieces.fault = str(error)
                self._unseen.error(pieces.fault, softmax.where)
        if module is None:
            self._keep(pieces)

    def no_product(self, softmax: Softmax) -> None:
        shape = softmax.weights.shape
        if len(shape) > 2 and min(shape[-2:]) > 1 and self._named(softmax.module) and self._over_tokens(softmax):
            self.places.met(softmax.module)
            self._unseen.error("its weights are not multiplied with values as one matrix", softmax.where)

    def _over_tokens(self, softmax: Softmax) -> bool:
        """Not over streams, bins or experts: a module with heads, or an axis as long as tokens are known to be."""
        lengths = self._lengths | self.stack.sizes
        return bool(softmax.module is None or softmax.weights.shape[-1] in lengths or (
            self._named(softmax.module) and (softmax.heads or not lengths)))

    def _named(self, module: Any) -> bool:
        return "att" in f"{type(module).__name__}.{self.stack.path(module)}".lower()

    def _left(self, module: Any) -> None:
        pieces = self._here.pieces.pop(id(module), None)
        if pieces is not None:
            self._keep(pieces)

    def _keep(self, pieces: Pieces) -> None:
        """A module is done, of which all weights are known now."""
        for seen in [] if pieces.fault else pieces.seen:
            with self._unseen.leaving_out(lambda: seen.where), self._cover():
                self._lengths |= {seen.queries, seen.keys}
                self._see(seen)
                self._unseen.weights_alone(seen.where, seen.module, next(iter(self.stack.running), None))
