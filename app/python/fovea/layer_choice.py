"""Which layers of a model a caller names."""
from __future__ import annotations

from typing import Any, Iterable, List, Optional, Union

from .places import Places

Layers = Optional[Union[int, str, Iterable[Union[int, str]]]]


class LayerChoice:
    """Layers by numbers, by names such as "decoder.layer3", and by paths such as "blocks.3.attn"; None: all."""

    def __init__(self, layers: Layers) -> None:
        self._named = None if layers is None else set([layers] if isinstance(layers, (int, str)) else layers)
        self._met: set = set()

    is_all = property(lambda self: self._named is None)

    def has(self, places: Places, module: Any) -> bool:
        if self._named is None:
            return True
        place = places.of(module)
        found = self._named & {place.layer, place.name, places.path(module)}
        self._met |= found
        return bool(found)

    def never_met(self) -> List[str]:
        """Those for which `has` never was True."""
        never = (self._named or set()) - self._met
        return [str(each) for each in sorted(never, key=lambda each: (isinstance(each, str), each))]
