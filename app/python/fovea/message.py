"""Messages between this process and the program: an object of JSON, and tensors.

A message is sent as a length (8 bytes, little-endian) and that many bytes of a .safetensors file. Its metadata holds
the object, as JSON text, under "message".
"""
from __future__ import annotations

import io
import json
import math
import struct
import threading
from typing import Any, BinaryIO, Dict, List, NamedTuple, Optional

from .errors import FoveaError
from .reader import Tensors, read_from
from .writer import TensorBytes

KEY = "message"
LARGEST = 4 << 30  # bytes of a frame
PIECE = 1 << 20


class Gone(OSError):
    """The other process has closed its end."""


class Message(NamedTuple):
    content: Dict[str, Any]
    tensors: Tensors  # without the key "message"


class Channel:
    """Carries messages over two open files of bytes. One thread may receive while others send."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    def send(self, content: Dict[str, Any], arrays: Optional[Dict[str, Any]] = None,
             metadata: Optional[Dict[str, str]] = None) -> None:
        """Sends an object and tensors of PyTorch or NumPy. Raises Gone if the other process has gone."""
        pieces = message_pieces(content, arrays, metadata)
        try:
            with self._lock:
                for piece in pieces:
                    self._writer.write(piece)
                self._writer.flush()
        except (OSError, ValueError) as error:  # closed
            raise Gone(str(error)) from error

    def receive(self) -> Optional[Message]:
        """The next message; None if the other process has closed its end. Raises FoveaError for what is no message."""
        length = self._exactly(8)
        if length is None:
            return None
        (size,) = struct.unpack("<Q", length)
        if not 0 < size <= LARGEST:
            raise FoveaError(f"a message would have {size} bytes; from 1 to {LARGEST} are expected")
        content = self._exactly(size)
        return None if content is None else read_message(content)

    def _exactly(self, count: int) -> Optional[bytes]:
        """None if the stream ends before. A length is only a claim: memory grows as bytes arrive."""
        content = bytearray()
        while len(content) < count:
            piece = self._reader.read(min(count - len(content), max(PIECE, len(content))))
            if not piece:
                return None
            content += piece
        return bytes(content)


def message_pieces(content: Dict[str, Any], arrays: Optional[Dict[str, Any]] = None,
                   metadata: Optional[Dict[str, str]] = None) -> List[Any]:
    """The bytes of a frame, in pieces that follow each other."""
    tensors = TensorBytes()
    tensors.add(arrays or {})
    pieces = tensors.pieces({**(metadata or {}), KEY: json.dumps(_finite(content), allow_nan=False)})
    size = sum(memoryview(piece).nbytes for piece in pieces)
    if size > LARGEST:
        raise FoveaError(f"what the model gives has {size / 1e9:.1f} GB, and a message may have {LARGEST / 1e9:.1f}: "
                         "use fewer tokens (--max-tokens)")
    return [struct.pack("<Q", size), *pieces]


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: null stands for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, (list, tuple)) else value


def read_message(frame: bytes) -> Message:
    """Raises FoveaError for bytes that are no message."""
    try:
        tensors = read_from(io.BytesIO(frame), "a message", len(frame))
    except ValueError as error:
        raise FoveaError(f"a message cannot be read: {error}") from error
    text = tensors.metadata.pop(KEY, None)
    try:
        content = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise FoveaError('a message has no object of JSON under "message" in its metadata')
    return Message(content, tensors)
