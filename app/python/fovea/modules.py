"""Which modules run: the stack of those that are being called, in every thread."""
from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import weakref
from typing import Any, Callable, Iterator, List, Optional, Set

from .errors import need
from .steps import Run


class _Here(threading.local):
    """What runs in this thread."""

    def __init__(self) -> None:
        self.modules: List[Any] = []  # from the root to the innermost
        self.run: Optional[Run] = None
        self.frame: Any = None  # of Python, in which PyTorch calls the root
        self.lengths: Set[int] = set()


class ModuleStack:
    """Follows every call of every torch.nn.Module, in every thread, through PyTorch's global hooks.

    A module that is called from outside all others is a root: `begins` is called before it runs, and `ends` after it.
    `left` is called with every module that returned. What a backward pass computes again, as for gradient
    checkpointing, is not followed.
    """

    def __init__(self, begins: Callable[[Any], None], left: Callable[[Any], None], ends: Callable[[], None]) -> None:
        self._begins, self._left, self._ends = begins, left, ends
        self._here = _Here()
        self._count = itertools.count(1)
        self._roots: Any = weakref.WeakKeyDictionary()  # their numbers
        self._hooks: List[Any] = []

    def start(self) -> None:
        if not self._hooks:
            self._here = _Here()  # without what was interrupted before
            hooks = need("torch.nn.modules.module", "Recording a model")
            self._hooks = [
                hooks.register_module_forward_pre_hook(self._enter),
                hooks.register_module_forward_hook(self._leave, always_call=True),
            ]

    def stop(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    @property
    def running(self) -> List[Any]:
        """From the root to the innermost module of this thread."""
        return self._here.modules

    @property
    def run(self) -> Optional[Run]:
        """The call of a root that this thread is in; None outside all modules."""
        return self._here.run if self._here.modules else None

    @property
    def lengths(self) -> Set[int]:
        """Numbers of tokens in this run, as far as they are known: whoever learns one adds it."""
        return self._here.lengths

    @property
    def innermost(self) -> Optional[Any]:
        """The innermost module that is more than a softmax or a dropout."""
        for module in reversed(self._here.modules):
            if not type(module).__name__.endswith(("Softmax", "Dropout")):
                return module
        return None

    def around(self, module: Any) -> Optional[Any]:
        """The module around one that runs."""
        modules = self._here.modules
        return next((outer for outer, inner in zip(modules, modules[1:]) if inner is module), None)

    def parameters(self) -> Iterator[Any]:
        """Those that the code which runs has at hand: of the innermost module and its parts, and of those around."""
        for module in self._here.modules:
            yield from module.parameters(recurse=module is self._here.modules[-1])

    def _enter(self, module: Any, inputs: Any) -> None:
        if _passes(module):
            return
        here = self._here
        if here.modules and not _runs(here.frame):
            here.modules = []  # Ctrl+C has ended it, after which PyTorch calls no hook
        if not here.modules:
            number = next(self._count)
            here.frame = sys._getframe(1)
            here.run = Run(self._roots.setdefault(module, number), number, threading.get_ident())
            here.lengths = set()
            self._begins(module)
        here.modules.append(module)
        with need("torch", "Recording a model")._C.DisableTorchFunction():  # or modes would see the questions
            for each in inputs:
                here.lengths.update(_lengths(each))

    def _leave(self, module: Any, inputs: Any, output: Any) -> None:
        here = self._here
        if not here.modules or _passes(module):
            return
        self._left(module)
        while here.modules and here.modules.pop() is not module:
            pass
        if not here.modules:
            here.frame = None
            self._ends()


def _runs(frame: Any) -> bool:
    """Python refuses to clear a frame that still runs."""
    try:
        frame.clear()
    except RuntimeError:
        return True
    return False


def in_backward() -> bool:
    """Whether this thread is in a backward pass."""
    task = getattr(need("torch", "Recording a model")._C, "_current_graph_task_id", None)
    return task is not None and task() != -1


def _passes(module: Any) -> bool:
    """The wrapper of a compiled module, and one without a hash, as a dataclass, whose parts PyTorch cannot list."""
    return hasattr(module, "_orig_mod") or type(module).__hash__ is None or in_backward()


def _lengths(given: Any) -> List[int]:
    """The axes of a tensor that may be of tokens: neither the batch nor, of other numbers than ids, the width."""
    with contextlib.suppress(Exception):  # a nested tensor has no shape, and other things are no tensors
        shape = given.shape
        last = -1 if len(shape) > 1 and given.dtype.is_floating_point else None
        return [n for n in shape[1:last] if type(n) is int]
    return []
