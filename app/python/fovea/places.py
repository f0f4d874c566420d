"""The places of attention modules in the models that run, each with a name of its own."""
from __future__ import annotations

from typing import Any, Dict, List, Set

from .modules import ModuleStack
from .names import Place, is_cross, place_of, tower_of


class Places:
    """Names modules by what is known of their models, which the stack tells of."""

    def __init__(self, stack: ModuleStack) -> None:
        self._stack = stack
        self._owners: Dict[str, Any] = {}
        self._towers: Dict[int, List[str]] = {}  # of a root
        self._equal_names: Set[str] = set()  # that several modules of a model would have

    def know(self, root: Any) -> None:
        """Looks at all modules of a model, before any of them runs."""
        attentions = [(path, module) for path, module in root.named_modules() if "Attention" in type(module).__name__]
        self._towers[id(root)] = sorted({tower_of(path) for path, _ in attentions} - {""})
        # Layers in groups, such as layers.0.blocks.1, share numbers: their paths are their names.
        first: Dict[Any, str] = {}
        for path, module in attentions:
            place = place_of(path, module, [root], getattr(root, "config", None), self._towers[id(root)])
            if first.setdefault((place.name, type(module)), path) != path:
                self._equal_names.add(place.name)

    def of(self, module: Any) -> Place:
        """Where a module is that runs now; None is no module at all. Two modules have two names."""
        place = self._find(module)
        path = self._stack.path(module)
        if path and place.name in self._equal_names:
            return place._replace(name=path)
        if self._owners.setdefault(place.name, module) is not module:
            return place._replace(name=path if path and path != place.name else f"{place.name}.other")
        return place

    def _find(self, module: Any) -> Place:
        if module is None:
            return Place("attention", None, "")
        path, running = self._stack.path(module), self._stack.running
        model = next((outer for outer in running if hasattr(getattr(outer, "config", None), "model_type")), None)
        if model is None:
            layer = place_of(path, module, running, None, []).layer
            return Place(path or type(module).__name__, layer, "cross" if is_cross(path, module) else "")
        towers = self._towers.get(id(running[0]), [])
        return place_of(path, module, running, model.config, towers)
