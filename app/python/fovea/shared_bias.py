"""Writes a bias once that all calls of a file share, as the relative bias of T5's encoder."""
from __future__ import annotations

from typing import Any, Dict, List, Tuple, Union

from .errors import need
from .writer import TensorMemory, TensorWriter


class SharedBias:
    """Holds the bias of the first call as long as all calls have the same."""

    def __init__(self, file: Union[TensorWriter, TensorMemory]) -> None:
        self._file = file
        self._held: Any = None
        self._calls: List[str] = []  # that have it
        self._differ = False

    def add(self, prefix: str, bias: Any) -> None:
        """The bias of a call, or None."""
        numpy = need("numpy", "Recording biases")
        first = self._held is None and not self._differ
        same = bias is not None and (first or (self._held is not None and bias.dtype == self._held.dtype
                                               and numpy.array_equal(bias, self._held)))
        if same:
            self._held = bias
            self._calls.append(prefix)
            return
        self._differ = True
        self._write_each()
        if bias is not None:
            self._file.add({f"{prefix}.bias": bias})

    def finish(self) -> None:
        """A tensor without the name of a call is of all calls that have none of their own."""
        if len(self._calls) > 1:
            self._file.add({"bias": self._held})
        else:
            self._write_each()

    def _write_each(self) -> None:
        for prefix in self._calls:
            self._file.add({f"{prefix}.bias": self._held})
        self._calls, self._held = [], None


class GivenBias:
    """Writes each bias with its call, unless an earlier call had the same one: then its name is in `same`."""

    def __init__(self, file: TensorMemory) -> None:
        self._file = file
        self._held: List[Tuple[str, Any]] = []  # the newest ones, with their names
        self.same: Dict[str, str] = {}

    def add(self, prefix: str, bias: Any) -> None:
        """The bias of a call, or None."""
        numpy = need("numpy", "Recording biases")
        if bias is None:
            return
        name = f"{prefix}.bias"
        for known, held in self._held:
            if bias.dtype == held.dtype and numpy.array_equal(bias, held):
                self.same[name] = known
                return
        self._held = [*self._held[-1:], (name, bias)]  # those of an encoder and of a decoder
        self._file.add({name: bias})

    def finish(self) -> None:
        """Nothing is left to write."""
