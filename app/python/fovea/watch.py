"""Watches for attention in whatever runs, in every thread, by five routes, for all recordings that run.

Each route reports a call after it ran. While the call runs, the other routes are off in this thread (`covered`).
Attention that no route reports goes to `Unseen`.

What watches is put into PyTorch once, however many recordings run, and in whatever order they end: one recording never
takes out what another one needs. A thread that has recordings of its own is recorded by these, any other thread by all.
"""
from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import weakref
from dataclasses import dataclass, field
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Tuple

from . import bloom
from .beneath import Beneath, Listener, Softmax, used_weights
from .errors import FoveaError, need
from .modules import ModuleStack, in_backward
from .places import Places
from .recurrent_layers import seen_recurrence
from .registry import Registry
from .sdpa import CausalBias, Functions, has_others, multihead_arguments
from .seen import Seen, SeenAny, SeenWeights, heads_of, of_bloom, of_sdpa, of_softmax, of_transformers, output_shape
from .unseen import Unseen, leaving_out


@dataclass(eq=False)
class Audience:
    """A recording or a replacement, as the watch knows it."""

    places: Places
    unseen: Any  # gets what was missed; has the methods of Unseen
    see: Callable[[SeenAny], None]
    forked: Callable[[], bool]  # called in the child of a fork; whether it goes on there
    thread: Any = None  # the one that it runs in
    own_thread_only: bool = False  # else it hears of threads without recordings of their own, too
    replacement: Any = None  # computes in place of the modules that it `wants`: see replace.py


class Thread:
    """A thread while it lives, and which parts of the recorder are active in it."""

    def __init__(self) -> None:
        self.modes: Optional[Tuple[Any, Any]] = None  # of functions, of operations


class _Here(threading.local):
    """Where a thread is."""

    def __init__(self) -> None:
        self.thread = Thread()
        self.all: List[Audience] = []  # that `audience` was chosen from
        self.audience: List[Audience] = []
        self.covered = 0  # functions inside which nothing is looked for
        self.pieces: Dict[int, Pieces] = {}  # by modules that run
        self.reported = 0  # calls of attention, whether recorded or missed
        self.dropout = 0.0  # of the function around, which was called without it


@dataclass
class Pieces:
    """The weights that a module has computed by itself in this call of it."""

    seen: List[SeenWeights] = field(default_factory=list)
    fault: str = ""  # why they are not those of a whole attention


class Watch(Listener):
    """Tells every audience, between its start and its stop, of every call of attention, and of what was missed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._all: List[Audience] = []  # is replaced, and never changed
        self._threads: Any = weakref.WeakSet()  # with modes
        self._prepared: Any = weakref.WeakSet()  # roots
        self._block = contextlib.ExitStack()
        self._here = _Here()
        self.stack = ModuleStack(self._begin, self._left, self._end)
        self._registry = Registry(self._transformers, self._recurrence)
        self._functions = Functions(self._sdpa, self._multihead)
        self._causal_bias = CausalBias()
        self._beneath = Beneath(self)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._end_in_fork)

    def start(self, audience: Audience) -> None:
        with self._lock:
            if not self._all:
                self._install()
            audience.thread = self._here.thread
            self._all = [*self._all, audience]
            self._settle(bool(self.stack.running))
        for root in self.stack.running[:1]:
            audience.places.know(root)

    def stop(self, audience: Audience) -> None:
        """In any thread, and in any order."""
        if audience in self._audience():
            self._forget_softmaxes()
        with self._lock:
            self._all = [each for each in self._all if each is not audience]
            self._settle(bool(self.stack.running))
        self._audience()  # forgets this one

    def _install(self) -> None:
        compiler = need("torch.compiler", "Recording a model")
        with contextlib.ExitStack() as block:
            if hasattr(compiler, "set_stance"):  # what was compiled could not be watched
                block.enter_context(compiler.set_stance("force_eager"))
            block.callback(self._registry.stop)
            block.callback(self._causal_bias.stop)
            self._registry.start()
            self._causal_bias.start()
            block.callback(self._prepared.clear)
            self.stack.start()
            self._block = block.pop_all()

    def _settle(self, inside: bool) -> None:
        """Puts the modes of this thread on or off, and takes everything out when nobody needs it any more.

        `inside`: a model runs in this thread. While one runs with modes in another thread, the hooks stay, which take
        the modes off when it is done.
        """
        thread = self._here.thread
        with self._lock:
            wanted = bool(self._all) and (inside or any(each.thread is thread for each in self._all))
            if wanted and thread.modes is None:
                thread.modes = self._functions.mode(), self._beneath.mode()
                _push(*thread.modes)
                self._threads.add(thread)
            elif not wanted and thread.modes is not None:
                _take_off(*thread.modes)
                self._threads.discard(thread)
                thread.modes = None
            if not self._all:
                self._block.close()
                if not self._threads:
                    self.stack.stop()

    def _end_in_fork(self) -> None:
        """In the child of a fork."""
        self._lock = threading.RLock()  # a thread that is not here may have had it
        before, self._all = self._all, [each for each in self._all if each.forked()]
        self._threads = weakref.WeakSet([self._here.thread] if self._here.thread.modes else [])
        if before:
            self._settle(bool(self.stack.running))

    def _begin(self, root: Any) -> None:
        """A model begins to run, for all that hear of it."""
        self._here.pieces = {}
        with self._leaving_out(root), self._lock:
            if self._all and root not in self._prepared:
                self._prepared.add(root)
                self._registry.start()  # transformers may have been imported since the last model
                self._registry.know(root)
                for module in root.modules():
                    if bloom.is_bloom(module):
                        for hook in bloom.attach(module, self._bloom):
                            self._block.callback(hook.remove)
        for audience in self._audience():
            with leaving_out([audience.unseen], root):
                audience.places.know(root)
        self._settle(True)

    def _end(self) -> None:
        self._forget_softmaxes()
        self._settle(False)

    def _forget_softmaxes(self, left: Any = None) -> None:
        """All, or those inside a module that has returned, which nobody multiplies any more."""
        modes = self._here.thread.modes
        if modes is not None and modes[1].waiting:
            with self.looking():
                modes[1].forget(left)

    def _audience(self) -> List[Audience]:
        """Those who hear of this thread."""
        here = self._here
        if here.all is not self._all:
            here.all = self._all
            own = [each for each in here.all if each.thread is here.thread]
            here.audience = own or [each for each in here.all if not each.own_thread_only]
        return here.audience

    # Work of the recorder, and what it tells.

    def _leaving_out(self, module: Any) -> ContextManager:
        """Whatever goes wrong inside is kept, and is not the model's affair."""
        return leaving_out((audience.unseen for audience in self._audience()), module)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No mode of this thread takes part: neither counts nor bends what is done inside."""
        dispatch = need("torch.utils._python_dispatch", "Recording a model")
        with need("torch", "Recording a model")._C.DisableTorchFunction(), dispatch._disable_current_modes():
            yield

    @contextlib.contextmanager
    def _apart(self, module: Any) -> Iterator[None]:
        """Leaves out what goes wrong inside, and runs without modes of this thread and without gradients."""
        with self._leaving_out(module), self._alone(), need("torch", "Recording a model").no_grad():
            yield

    @contextlib.contextmanager
    def _cover(self) -> Iterator[None]:
        self._here.covered += 1
        try:
            yield
        finally:
            self._here.covered -= 1

    def _met(self, module: Any) -> None:
        """Attention was computed."""
        self._here.reported += 1
        for audience in self._audience():
            audience.places.met(module)

    def _tell(self, make: Callable[[], SeenAny]) -> None:
        """Tells of a call."""
        module = self.stack.innermost
        with self._apart(module):
            self._met(module)
            self._see(make())

    def _see(self, seen: SeenAny) -> None:
        self.stack.lengths.update((seen.queries, seen.keys))
        for audience in self._audience():
            with leaving_out([audience.unseen], seen.module):
                audience.see(seen)

    def _replacement(self, module: Any) -> Any:
        """What computes in place of the attention of a module; None: the module itself does."""
        for audience in reversed(self._audience()):
            if audience.replacement is not None and audience.replacement.wants(module):
                return audience.replacement
        return None

    def _replaced(self, replacement: Any, module: Any, make: Callable[[], Seen]) -> Any:
        """The output [B, H, nq, dv] of a replacement. Errors of the replacement are raised in the model."""
        with self._alone():
            seen, z = replacement.answer(module, make)
        self._tell(lambda: dataclasses.replace(seen, z=None, replaced=True))
        return z

    def _missed(self, message: str, module: Any) -> None:
        for audience in self._audience():
            audience.unseen.error(message, module)

    # The routes.

    def _passes(self) -> bool:
        return self._is_off() or need("torch", "Recording a model").compiler.is_compiling()

    def _is_off(self) -> bool:
        """In a function that is reported as a whole, or in a backward pass, which computes only again."""
        return bool(self._here.covered) or not self._audience() or in_backward()

    def _transformers(self, function: Any, kind: str, args: Any, kwargs: Dict[str, Any]) -> Any:
        if self._passes():
            return function(*args, **kwargs)
        names = ("module", "query", "key", "value", "attention_mask")
        given = {**dict(zip(names, args)), **kwargs}
        replacement = self._replacement(given.get("module"))
        if kind not in ("sdpa", "eager"):
            if replacement is not None:
                self.operation(kind)  # the replacement refuses it
            before = self._here.reported
            result = function(*args, **kwargs)
            if self._here.reported == before:
                self.operation(kind)
            return result
        result = None
        if replacement is None or replacement.needs_own(given["module"]):
            with self._cover():
                result = function(*args, **kwargs)

        def call() -> Seen:
            places = self._audience()[0].places
            return of_transformers(given["module"], kind, given, result and result[0],
                                   places.is_cross(given["module"]))

        if replacement is not None:
            return self._replaced(replacement, given["module"], call).transpose(1, 2).contiguous(), None
        self._tell(call)
        return result

    def _recurrence(self, function: Any, name: str, args: Any, kwargs: Dict[str, Any]) -> Any:
        """No replacement hears of it, as there is no softmax to replace."""
        if self._passes() or all(each.replacement is not None for each in self._audience()):
            return function(*args, **kwargs)
        with self._cover():
            result = function(*args, **kwargs)
        self._tell(lambda: seen_recurrence(self.stack.innermost, name, function, args, kwargs, result))
        return result

    def _sdpa(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if self._passes():
            return function(*args, **kwargs)
        replacement = self._replacement(self.stack.innermost)
        z = None
        if replacement is None or replacement.needs_own(self.stack.innermost):
            with self._cover():
                z = function(*args, **kwargs)

        def call() -> Seen:
            seen = of_sdpa(self.stack.innermost, args, kwargs, z)
            seen.dropout = max(seen.dropout, self._here.dropout)
            return seen

        if replacement is not None:
            return self._replaced(replacement, self.stack.innermost, call).reshape(output_shape(args, kwargs))
        self._tell(call)
        return z

    def _multihead(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Where weights are asked for, PyTorch computes without the function that is watched.

        Where other modes take part, that function is called where this package's mode is not on.
        """
        if self._passes():
            return function(*args, **kwargs)
        given = multihead_arguments(args, kwargs)
        if given is None:
            return function(*args, **kwargs)
        seeing = self._functions.seeing()
        if self._replacement(self.stack.innermost) is not None:
            return seeing(**{**given, "need_weights": False})
        if not given["need_weights"] and not has_others(given):
            return seeing(*args, **kwargs)
        with self._cover():
            result = function(*args, **kwargs)
        with self._apart(self.stack.innermost):
            # The same call without its weights, which runs the watched function and has the same output. Without
            # dropout it draws no random number.
            self._here.dropout = float(given["dropout_p"]) if given["training"] else 0.0
            try:
                seeing(**{**given, "need_weights": False, "training": False})
            finally:
                self._here.dropout = 0.0
        return result

    def _bloom(self, module: Any, arguments: Callable[[], Tuple[Any, ...]]) -> None:
        self._tell(lambda: of_bloom(module, *arguments()))

    # What the operations tell of.

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        with self._leaving_out(self.stack.innermost), need("torch", "Recording a model")._C.DisableTorchFunction():
            yield

    def skips(self) -> bool:
        return self._is_off() or bloom.is_bloom(self.stack.innermost)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        modes = self._here.thread.modes
        if modes is None:
            yield
            return
        _push(*modes)
        try:
            yield
        finally:
            _take_off(*modes)

    def here(self) -> Tuple[Any, Any, Optional[int]]:
        module = self.stack.innermost
        around = self.stack.around(module)
        return module, around, heads_of([module, around])

    def parameters(self) -> Iterator[Any]:
        return self.stack.parameters()

    def operation(self, name: str) -> None:
        module = self.stack.innermost
        self._met(module)
        for audience in self._audience():
            audience.unseen.operation(name, module)

    def length(self, tokens: int) -> None:
        self.stack.lengths.add(tokens)

    def weights(self, softmax: Softmax, operand: Any) -> None:
        module = softmax.module
        if not self._over_tokens(softmax):
            return
        self._met(module)
        if not softmax.axis_is_last:
            return self._missed("it computes a softmax over another axis than the last", module)
        pieces = Pieces() if module is None else self._here.pieces.setdefault(id(module), Pieces())
        with self._apart(module):
            try:
                pieces.seen.append(of_softmax(module, used_weights(softmax, operand), softmax.heads))
            except FoveaError as error:
                pieces.fault = str(error)
                raise
        if module is None:
            self._keep(pieces)

    def no_product(self, softmax: Softmax) -> None:
        shape = softmax.weights.shape
        if len(shape) > 2 and min(shape[-2:]) > 1 and self._named(softmax.module) and self._over_tokens(softmax):
            for audience in self._audience():
                audience.places.met(softmax.module)
            self._missed("its weights are not multiplied with values as one matrix", softmax.module)

    def _over_tokens(self, softmax: Softmax) -> bool:
        """Not over streams, bins or experts: a module with heads, or an axis as long as tokens are known to be."""
        lengths = self.stack.lengths
        return bool(softmax.module is None or softmax.weights.shape[-1] in lengths or (
            self._named(softmax.module) and (softmax.heads or not lengths)))

    def _named(self, module: Any) -> bool:
        return any("att" in f"{type(module).__name__}.{audience.places.path(module)}".lower()
                   for audience in self._audience())

    def _left(self, module: Any) -> None:
        self._forget_softmaxes(module)
        pieces = self._here.pieces.pop(id(module), None)
        if pieces is not None:
            self._keep(pieces)

    def _keep(self, pieces: Pieces) -> None:
        """A module is done, of which all weights are known now."""
        for seen in [] if pieces.fault else pieces.seen:
            with self._apart(seen.module):
                self._see(seen)
                for audience in self._audience():
                    audience.unseen.weights_alone(seen.module, next(iter(self.stack.running), None))


def _stacks() -> Any:
    """The stacks of modes of this thread, of functions and of operations: how to push, to pop and to count them."""
    torch = need("torch", "Recording a model")
    overrides = need("torch.overrides", "Recording a model")
    dispatch = need("torch.utils._python_dispatch", "Recording a model")
    return ((overrides._push_mode, overrides._pop_mode, torch._C._len_torch_function_stack),
            (dispatch._push_mode, dispatch._pop_mode, torch._C._len_torch_dispatch_stack))


def _push(*modes: Any) -> None:
    """Not as a with statement does: PyTorch then keeps flags that are of all threads, and that end in disorder."""
    for mode, (push, _, _) in zip(modes, _stacks()):
        push(mode)


def _take_off(*modes: Any) -> None:
    """Wherever they are among those of the user."""
    for mode, (push, pop, count) in zip(modes, _stacks()):
        above = []
        while count():
            top = pop()
            if top is mode:
                break
            above.append(top)
        for each in reversed(above):
            push(each)


WATCH = Watch()
