"""The places of attention modules in the models that run, each with a name of its own."""
from __future__ import annotations

import itertools
import re
import threading
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Set

from .modules import ModuleStack
from .names import Place, is_cross, is_mixer, layer_of, place_of, tower_of


class Home(NamedTuple):
    """The model of transformers that a module belongs to, which may be a part of another model."""

    path: str  # of the model in its root
    config: Any
    towers: List[str]


class Places:
    """Names modules by what is known of their models. A model may end and be forgotten: nothing here holds it."""

    def __init__(self, stack: ModuleStack) -> None:
        self._stack = stack
        self._lock = threading.RLock()
        self.roots: List[str] = []  # their types
        self._paths: Any = weakref.WeakKeyDictionary()  # of modules, below the first root that they were seen in
        self._homes: Any = weakref.WeakKeyDictionary()  # of modules
        self._owners: Dict[str, Any] = {}  # references to modules, by their names
        self._equal_names: Set[str] = set()  # that several modules of a model would have
        self._mixers: Any = weakref.WeakSet()  # mixers whose layer has attention too
        self._lists: Dict[str, int] = {}  # lengths of lists of layers, by their paths
        self._seen: Set[str] = set()  # paths of modules whose attention ran

    def know(self, root: Any) -> None:
        """Names the modules of a model, if they have no names yet. Before any of them runs."""
        with self._lock:
            if root in self._paths:
                return
            self.roots.append(type(root).__name__)
            for path, module in root.named_modules():
                self._paths.setdefault(module, path)
            self._look_for_homes(root)

    def path(self, module: Any) -> str:
        """Such as model.layers.3.self_attn. Empty for a root, and for modules that are not known."""
        return "" if module is None else self._paths.get(module, "")

    def where(self, module: Any) -> str:
        """Where a module of this thread is, in words: "h.0.attn (GPTNeoSelfAttention), in the thread worker"."""
        name = "code outside any module" if module is None else type(module).__name__
        path = self.path(module)
        thread = threading.current_thread()
        other = "" if thread is threading.main_thread() else f", in the thread {thread.name}"
        return (f"{path} ({name})" if path else name) + other

    def of(self, module: Any) -> Place:
        """Where a module is that runs now; None is no module at all. Two modules have two names."""
        path = self.path(module)
        place = self._find(module, path)
        if module in self._mixers:
            place = place._replace(name=f"{path.rpartition('.')[2]}.{place.name}")
        owner = None if module is None else weakref.ref(module)
        base = path or place.name
        names = [path] if path and place.name in self._equal_names else [place.name, base]
        others = (f"{base}.other{n if n > 1 else ''}" for n in itertools.count(1))
        return place._replace(name=next(
            name for name in itertools.chain(names, others) if self._owners.setdefault(name, owner) == owner))

    def met(self, module: Any) -> None:
        """A module computed attention."""
        self._seen.add(self.path(module))

    def is_cross(self, module: Any) -> bool:
        return is_cross(self.path(module), module)

    def without(self) -> List[str]:
        """The paths of layers beside those with attention that have none."""
        numbers: Dict[str, Set[int]] = {}
        for path in self._seen:
            found = re.match(r"^(.*?[^.\d][^.]*)\.(\d+)(?:\.|$)", path)
            if found and found.group(1) in self._lists:
                numbers.setdefault(found.group(1), set()).add(int(found.group(2)))
        return [f"{path}.{n}" for path, some in sorted(numbers.items()) for n in range(self._lists[path])
                if n not in some]

    def _look_for_homes(self, root: Any) -> None:
        homes: List[Home] = []
        attentions, mixers = [], []
        for path, module in root.named_modules():
            home = next((home for home in homes if path.startswith(home.path + ".") or not home.path), None)
            if home is None and hasattr(getattr(module, "config", None), "model_type"):
                home = Home(path, module.config, [])
                homes.append(home)
            if home is not None:
                self._homes.setdefault(module, home)
                if "Attention" in type(module).__name__:
                    attentions.append((path, module, home))
                elif is_mixer(module):
                    mixers.append((path, module, home))
            if type(module).__name__ == "ModuleList":
                self._lists[path] = len(module)
        for home in homes:
            home.towers.extend(sorted(
                {tower_of(_below(home, path)) for path, _, other in attentions if other is home} - {""}))
        # Layers in groups, such as layers.0.blocks.1, share numbers: their paths are their names.
        first: Dict[Any, str] = {}
        for path, module, home in attentions:
            place = self._of_transformers(_below(home, path), module, home)
            if first.setdefault((place.name, type(module)), path) != path:
                self._equal_names.add(place.name)
        for path, module, home in mixers:
            name = self._of_transformers(_below(home, path), module, home).name
            if any(name == taken and not path.startswith(f"{other}.") for (taken, _), other in first.items()):
                self._mixers.add(module)

    def _find(self, module: Any, path: str) -> Place:
        if module is None:
            return Place("attention", None, "")
        home = self._homes.get(module)
        if home is None:
            return Place(path or type(module).__name__, layer_of(path), "cross" if is_cross(path, module) else "")
        return self._of_transformers(_below(home, path), module, home)

    def _of_transformers(self, path: str, module: Any, home: Home) -> Place:
        return place_of(path, module, self._stack.running, home.config, home.towers)


def _below(home: Home, path: str) -> str:
    return path[len(home.path) + 1 :] if home.path else path
