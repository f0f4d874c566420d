"""Which module of which model is running: names of modules and the stack of those that are being called."""
from __future__ import annotations

import contextlib
import itertools
import threading
from typing import Any, Callable, ContextManager, Dict, List, Optional, Set

from .errors import need


class _Running(threading.local):
    """What runs in this thread."""

    def __init__(self) -> None:
        self.modules: List[Any] = []  # from the root to the innermost
        self.run = 0  # the number of the call of the root
        self.sizes: Set[int] = set()  # of the axes of its arguments, less the batch
        self.around = contextlib.ExitStack()


class ModuleStack:
    """Follows every call of every torch.nn.Module, in every thread, through PyTorch's global hooks.

    A module that is called from outside all others is a root: it names the modules in it, by their paths below
    it. A root that was seen first names first, and `seen` is called with every new root. Every call of a root runs
    inside the context that `around` makes; `left` is called with every module that returned.
    """

    def __init__(self, seen: Callable[[Any], None], around: Callable[[], ContextManager],
                 left: Callable[[Any], None]) -> None:
        self._seen = seen
        self._around = around
        self._left = left
        self._running = _Running()
        self._runs = itertools.count(1)
        self._lock = threading.RLock()
        self._paths: Dict[int, str] = {}
        self._kept: List[Any] = []  # roots: their modules' identities stay theirs
        self._hooks: List[Any] = []

    def start(self) -> None:
        hooks = need("torch.nn.modules.module", "Recording a model")
        self._hooks = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ]

    def stop(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._running = _Running()
        self._kept = []

    def know(self, root: Any) -> None:
        """Names the modules of a model, if they have no names yet."""
        with self._lock:
            if id(root) in self._paths:
                return
            self._kept.append(root)
            for path, module in root.named_modules():
                self._paths.setdefault(id(module), path)
            self._seen(root)

    def path(self, module: Any) -> str:
        """Such as model.layers.3.self_attn. Empty for a root, and for modules that are not known."""
        return self._paths.get(id(module), "")

    @property
    def running(self) -> List[Any]:
        """From the root to the innermost module of this thread."""
        return self._running.modules

    @property
    def run(self) -> Optional[int]:
        """The number of the call of a root that this thread is in; None outside all modules."""
        return self._running.run if self._running.modules else None

    @property
    def innermost(self) -> Optional[Any]:
        """The innermost module that is more than a softmax or a dropout."""
        for module in reversed(self._running.modules):
            if not type(module).__name__.endswith(("Softmax", "Dropout")):
                return module
        return None

    def around(self, module: Any) -> List[Any]:
        """A module that runs and the one around it."""
        modules = self._running.modules
        at = next((i for i, each in enumerate(modules) if each is module), None)
        return [] if at is None else list(reversed(modules[max(0, at - 1) : at + 1]))

    @property
    def sizes(self) -> Set[int]:
        """The lengths of the axes of what the root was called with."""
        return self._running.sizes

    def where(self, module: Any) -> str:
        """Where a module of this thread is, in words: "h.0.attn (GPTNeoSelfAttention), in the thread worker"."""
        name = "code outside any module" if module is None else type(module).__name__
        path = self.path(module)
        thread = threading.current_thread()
        other = "" if thread is threading.main_thread() else f", in the thread {thread.name}"
        return (f"{path} ({name})" if path else name) + other

    def _enter(self, module: Any, inputs: Any) -> None:
        if hasattr(module, "_orig_mod"):
            return  # the wrapper of a compiled module
        here = self._running
        if not here.modules:
            self.know(module)
            here.run = next(self._runs)
            here.sizes = {int(n) for each in inputs for n in getattr(each, "shape", ())[1:]}
            here.around.enter_context(self._around())
        here.modules.append(module)

    def _leave(self, module: Any, inputs: Any, output: Any) -> None:
        here = self._running
        if hasattr(module, "_orig_mod") or not here.modules:
            return
        self._left(module)
        while here.modules and here.modules.pop() is not module:
            pass
        if not here.modules:
            here.around.close()
