"""Which module of which model is running: names of modules and the stack of those that are being called."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from .errors import need


class ModuleStack:
    """Follows every call of every torch.nn.Module through PyTorch's global hooks, between start and stop.

    A module that is called from outside all others is a root: it names the modules in it, by their paths below
    it. A root that was seen first names first, and `seen` is called with every new root.
    """

    def __init__(self, seen: Callable[[Any], None]) -> None:
        self._seen = seen
        self._running: List[Any] = []
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
        self._running = []
        self._kept = []

    def know(self, root: Any) -> None:
        """Names the modules of a model, if they have no names yet."""
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
        """From the root to the innermost module."""
        return self._running

    @property
    def innermost(self) -> Optional[Any]:
        return self._running[-1] if self._running else None

    def _enter(self, module: Any, inputs: Any) -> None:
        if hasattr(module, "_orig_mod"):
            return  # the wrapper of a compiled module
        if not self._running:
            self.know(module)
        self._running.append(module)

    def _leave(self, module: Any, inputs: Any, output: Any) -> None:
        if hasattr(module, "_orig_mod"):
            return
        while self._running:
            if self._running.pop() is module:
                return
