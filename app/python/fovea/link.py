"""The connection to a running window of Fovea: where it is, and how steps are sent.

A greeting ("fovealnk", version, token), then frames: a length (8 bytes, little-endian) and a safetensors file. The
window answers each of them with a frame of JSON.
"""
from __future__ import annotations

import json
import os
import socket
import stat
import struct
import time
from typing import Any, Dict, List, NamedTuple, Optional

from .errors import FoveaError

MAGIC = b"fovealnk"
VERSION = 1
LONGEST_ANSWER = 1 << 20  # bytes


class Refused(FoveaError):
    """The window is there and does not take what was sent."""


class Address(NamedTuple):
    """Where a window listens: a path, or a port of a host with a token."""

    path: str = ""
    host: str = ""
    port: int = 0
    token: str = ""

    def __str__(self) -> str:
        return f"unix:{self.path}" if self.path else f"tcp:{self.host}:{self.port}"


def address_of(address: Optional[str], token: Optional[str]) -> Address:
    """The address given, else $FOVEA_ADDRESS, else the socket of this user's window. Raises FoveaError."""
    address = address or os.environ.get("FOVEA_ADDRESS") or ""
    token = token or os.environ.get("FOVEA_TOKEN") or ""
    if not address:
        return Address(path=os.path.join(runtime_folder(), "live.sock"))
    kind, _, rest = address.partition(":")
    host, _, port = rest.rpartition(":")
    if kind == "unix" and rest:
        return Address(path=rest)
    if kind == "tcp" and host and port.isdigit() and 0 < int(port) < 65536:
        if not token:
            raise FoveaError(f"{address} needs a token: pass token=, or set FOVEA_TOKEN to the content of the file that "
                             "the window named when it was started with --listen")
        if len(token.encode()) > 256:
            raise FoveaError("the token is too long; expected the content of the file that the window named")
        return Address(host=host.strip("[]"), port=int(port), token=token.strip())
    raise FoveaError(f"the address is '{address}'; expected unix:PATH or tcp:HOST:PORT")


def runtime_folder() -> str:
    """The folder of the window's socket, as the program chooses it."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(given, "fovea") if given.startswith("/") else f"/tmp/fovea-{os.getuid()}"


class Link:
    """An open connection. Every function ends after `timeout` seconds: OSError."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self.process = os.getpid()
        self._deadline = time.monotonic() + timeout
        self._socket = _connected(address, timeout)
        try:
            greeting = MAGIC + struct.pack("<II", VERSION, len(address.token.encode())) + address.token.encode()
            self._send([greeting])
            answer = self._answer()
            self._most_bytes = int(answer.get("most_bytes", 1 << 30))
        except BaseException:
            self.close()
            raise

    def send(self, pieces: List[Any], timeout: float) -> int:
        """Sends a step and waits until the window has it. Returns its number. Raises Refused and OSError."""
        self._deadline = time.monotonic() + timeout
        length = sum(memoryview(piece).nbytes for piece in pieces)
        if length > self._most_bytes:
            raise Refused(f"a step has {length} bytes, and the window takes at most {self._most_bytes}: send fewer heads "
                          "or tokens")
        try:
            self._send([struct.pack("<Q", length), *pieces])
        except (BrokenPipeError, ConnectionResetError):
            self._answer()  # which says why, if the window had anything to say
            raise
        return int(self._answer().get("step", 0))

    def close(self) -> None:
        self._socket.close()

    def _send(self, pieces: List[Any]) -> None:
        for piece in pieces:
            self._socket.settimeout(self._left())
            self._socket.sendall(piece)

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        return left

    def _receive(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            self._socket.settimeout(self._left())
            piece = self._socket.recv(count - len(content))
            if not piece:
                raise ConnectionResetError("the window has closed the connection")
            content += piece
        return content

    def _answer(self) -> Dict[str, Any]:
        (length,) = struct.unpack("<Q", self._receive(8))
        if length > LONGEST_ANSWER:
            raise ConnectionError(f"{self.address} does not answer like a window of Fovea")
        try:
            answer = json.loads(self._receive(length))
        except ValueError as error:
            raise ConnectionError(f"{self.address} does not answer like a window of Fovea") from error
        if "error" in answer:
            raise Refused(str(answer["error"]))
        return answer


def _connected(address: Address, timeout: float) -> socket.socket:
    if not address.path:
        connection = socket.create_connection((address.host, address.port), timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection
    status = os.lstat(address.path)  # in a folder that others can write to, it could be anybody's
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        raise ConnectionRefusedError(f"{address.path} is not a socket of this user")
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(timeout)
        connection.connect(address.path)
    except BaseException:
        connection.close()
        raise
    return connection
