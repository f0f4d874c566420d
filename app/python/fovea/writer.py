"""Writes a .safetensors file tensor by tensor, without holding them, and replaces the old file at the end.

The file begins with the length of its header (8 bytes, little-endian) and the header (JSON: name, type, shape
and place of every tensor), which is known last. Room for it is kept at the front and filled up with spaces.
Where it does not suffice, or where it would be most of the file, the tensors are copied behind a header of the
right size.
"""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import tempfile
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Tuple

from .arrays import SIZES, Block, block_of
from .atomic_file import AtomicFile
from .errors import FoveaError
from .reader import LARGEST, LONGEST_HEADER

ROOM = 1 << 20  # bytes kept for the header
WORTH_ROOM = 16  # a file smaller than this many times the room is copied and keeps none
HELD = 1 << 26  # bytes of tensors of odd lengths that are held before they go to a file of their own


class TensorWriter:
    """A .safetensors file that grows. Use it in a with statement: the file appears at its end, complete.

    When the block ends with an exception, a file that was there before stays as it was. After an error of writing
    nobody knows where the next tensor would lie: it is kept as `fault`, and nothing more is written.
    """

    def __init__(self, path: "str | os.PathLike[str]", room: int = ROOM) -> None:
        self.path = os.fspath(path)
        self._room = (room + 7) // 8 * 8
        self._body: List[Tuple[str, str, Tuple[int, ...], int]] = []  # name, type, shape, bytes
        self._tail: List[Tuple[str, str, Tuple[int, ...], int, int]] = []  # also its place in the tail
        self._names: set = set()
        self._length = 0
        self.header_length = 0  # at most, without metadata
        self.fault: Optional[BaseException] = None
        self._whole: Optional[AtomicFile] = AtomicFile(self.path)
        self._odd: BinaryIO = tempfile.SpooledTemporaryFile(HELD)  # type: ignore[assignment]
        self._whole.file.seek(8 + self._room)

    def add(self, arrays: Dict[str, Any]) -> None:
        """Writes tensors of PyTorch or NumPy, all or, where one cannot be read, none. Names must be new: FoveaError."""
        if self._whole is None:
            raise FoveaError(f"{self.path} is complete: no tensor can be added")
        for name in arrays:
            if name in self._names:
                raise FoveaError(f"{self.path} has a tensor '{name}' already")
        blocks = {name: block_of(array) for name, array in arrays.items()}
        with self._on_disk():
            for name, block in blocks.items():
                self._add(name, block)

    def _add(self, name: str, block: Block) -> None:
        """The tensors follow each other without gaps. Those which would leave the next one at an odd place come last,
        the widest type first, so that every tensor begins at a multiple of its type's size.
        """
        assert self._whole is not None
        self._names.add(name)
        size = block.data.nbytes
        if size % 8:
            place = self._odd.seek(0, os.SEEK_END)
            self._odd.write(block.data)
            self._odd.flush()
            self._tail.append((name, block.dtype, block.shape, size, place))
        else:
            self._whole.file.write(block.data)
            self._whole.file.flush()  # a fault is a fault of this tensor, and a forked process holds no bytes
            self._body.append((name, block.dtype, block.shape, size))
            self._length += size
        self.header_length += len(_json({name: _entry(block.dtype, block.shape, LARGEST, LARGEST)}))

    def finish(self, metadata: Optional[Dict[str, str]] = None) -> None:
        """Writes the header and puts the file in its place."""
        if self._whole is None:
            return
        with self._on_disk():
            self._write_tail(self._whole.file)
            header = _header(self._body, metadata or {})
            if _keeps_room(len(header), self._room, self._length):
                self._whole.file.seek(0)
                _write_header(self._whole.file, header, self._room)
            else:
                self._copy_behind(header)
        whole, self._whole = self._whole, None
        self._odd.close()
        whole.replace()

    def discard(self) -> None:
        """Removes what was written. A file that was there before stays."""
        if self._whole is None:
            return
        whole, self._whole = self._whole, None
        whole.discard()
        self._odd.close()

    def let_go(self) -> None:
        """In a forked process: whatever it writes or moves would be in the file of the other one."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for file in (self._odd, self._whole and self._whole.file):
            if file is not None and getattr(file, "_rolled", True) and not file.closed:
                os.dup2(nowhere, file.fileno(), inheritable=False)
        os.close(nowhere)

    def __enter__(self) -> "TensorWriter":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            try:
                self.finish()
            except BaseException:
                self.discard()
                raise
        else:
            self.discard()

    @contextlib.contextmanager
    def _on_disk(self) -> Iterator[None]:
        """Raises FoveaError where the disk is full, or gone, and ever after."""
        if self.fault is not None:
            raise FoveaError(self._refusal(self.fault)) from self.fault
        try:
            yield
        except BaseException as error:
            self.fault = error
            if isinstance(error, OSError):
                raise FoveaError(self._refusal(error)) from error
            raise

    def _refusal(self, error: BaseException) -> str:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return f"{self.path} cannot be written: {why}"

    def _write_tail(self, file: BinaryIO) -> None:
        file.seek(0, os.SEEK_END)
        if file.tell() < 8 + self._room:
            file.seek(8 + self._room)
        for name, dtype, shape, size, place in sorted(self._tail, key=lambda entry: -SIZES[entry[1]]):
            self._odd.seek(place)
            _copy(self._odd, file, size)
            self._body.append((name, dtype, shape, size))
            self._length += size
        self._tail = []

    def _copy_behind(self, header: bytes) -> None:
        assert self._whole is not None
        copy = AtomicFile(self.path)
        try:
            _write_header(copy.file, header, (len(header) + 7) // 8 * 8)
            self._whole.file.seek(8 + self._room)
            shutil.copyfileobj(self._whole.file, copy.file, 1 << 22)
        except BaseException:
            copy.discard()
            raise
        self._whole.discard()
        self._whole = copy


class TensorBytes:
    """The bytes of the file that TensorWriter would write, in memory."""

    def __init__(self) -> None:
        self._blocks: Dict[str, Block] = {}

    def add(self, arrays: Dict[str, Any]) -> None:
        """Adds tensors of PyTorch or NumPy, or Blocks, which may change only after `pieces`.

        Names must be new: FoveaError.
        """
        for name in arrays:
            if name in self._blocks:
                raise FoveaError(f"there is a tensor '{name}' already")
        self._blocks.update({name: array if isinstance(array, Block) else block_of(array)
                             for name, array in arrays.items()})

    def pieces(self, metadata: Optional[Dict[str, str]] = None) -> List[Any]:
        """The content, in pieces that follow each other."""
        named = list(self._blocks.items())
        body = [entry for entry in named if entry[1].data.nbytes % 8 == 0]
        body += sorted((entry for entry in named if entry[1].data.nbytes % 8), key=lambda e: -SIZES[e[1].dtype])
        header = _header([(name, block.dtype, block.shape, block.data.nbytes) for name, block in body], metadata or {})
        length = sum(block.data.nbytes for _, block in body)
        room = ROOM if _keeps_room(len(header), ROOM, length) else (len(header) + 7) // 8 * 8
        return [struct.pack("<Q", room) + header.ljust(room), *(block.data for _, block in body)]


class TensorMemory:
    """Takes what a recording writes in place of a TensorWriter, and holds copies of the tensors."""

    path = "memory"
    fault: Optional[BaseException] = None

    def __init__(self) -> None:
        self.arrays: Dict[str, Any] = {}  # Blocks
        self.metadata: Dict[str, str] = {}  # once it is complete
        self.header_length = 0  # at most, without metadata

    def add(self, arrays: Dict[str, Any]) -> None:
        for name, array in arrays.items():
            block = block_of(array)
            self.arrays[name] = block._replace(data=memoryview(bytes(block.data)))
            self.header_length += len(_json({name: _entry(block.dtype, block.shape, LARGEST, LARGEST)}))

    def take(self) -> Dict[str, Any]:
        """The tensors that were written since the last time, which are no longer held here."""
        taken, self.arrays, self.header_length = self.arrays, {}, 0
        return taken

    def finish(self, metadata: Optional[Dict[str, str]] = None) -> None:
        self.metadata = metadata or {}

    def discard(self) -> None:
        self.arrays = {}

    def let_go(self) -> None:
        self.arrays = {}


def _keeps_room(header: int, room: int, length: int) -> bool:
    return header <= room and length >= WORTH_ROOM * room


def _header(body: List[Tuple[str, str, Tuple[int, ...], int]], metadata: Dict[str, str]) -> bytes:
    entries: Dict[str, Any] = {}
    if metadata:
        entries["__metadata__"] = metadata
    begin = 0
    for name, dtype, shape, size in body:
        entries[name] = _entry(dtype, shape, begin, begin + size)
        begin += size
    header = _json(entries)
    if len(header) > LONGEST_HEADER:
        raise FoveaError(f"the header of the file would have {len(header)} bytes, and no more than {LONGEST_HEADER} "
                         "are read: give fewer tensors or tokens")
    return header


def _entry(dtype: str, shape: Tuple[int, ...], begin: int, end: int) -> Dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def _json(entries: Dict[str, Any]) -> bytes:
    return json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def metadata_length(metadata: Dict[str, str]) -> int:
    """What it adds to the header."""
    return len(_json({"__metadata__": metadata}))


def _write_header(file: BinaryIO, header: bytes, room: int) -> None:
    file.write(struct.pack("<Q", room))
    file.write(header)
    file.write(b" " * (room - len(header)))


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    while size:
        piece = source.read(min(size, 1 << 22))
        if not piece:
            raise FoveaError("a temporary file is shorter than what was written to it")
        target.write(piece)
        size -= len(piece)
