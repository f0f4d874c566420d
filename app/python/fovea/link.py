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


class Busy(Refused):
    """The window is there and serves others: this may pass."""


class TooSlow(OSError):
    """The window takes what is sent, but not all of it until the deadline."""


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
            raise FoveaError(f"{address} needs a token: pass token=, or set FOVEA_TOKEN to the content of the file "
                             "that the window named when it was started with --listen")
        if len(token.encode()) > 256:
            raise FoveaError("the token is too long; expected the content of the file that the window named")
        return Address(host=host.strip("[]"), port=int(port), token=token.strip())
    raise FoveaError(f"the address is '{address}'; expected unix:PATH or tcp:HOST:PORT")


def runtime_folder() -> str:
    """The folder of the window's socket, as the program chooses it."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(given, "fovea") if given.startswith("/") else f"/tmp/fovea-{os.getuid()}"


class Link:
    """An open connection. Every function ends at its deadline, a time of time.monotonic(): OSError."""

    def __init__(self, address: Address, deadline: float) -> None:
        self.address = address
        self.process = os.getpid()
        self._deadline = deadline
        self._socket = _connected(address, deadline)
        try:
            greeting = MAGIC + struct.pack("<II", VERSION, len(address.token.encode())) + address.token.encode()
            answer = self._answer_to([greeting])
            self._most_bytes = self._number(answer, "most_bytes")
        except BaseException:
            self.close()
            raise

    def send(self, pieces: List[Any], deadline: float) -> int:
        """Sends a step and waits until the window has it. Returns its number. Raises Refused and OSError."""
        self._deadline = deadline
        length = sum(memoryview(piece).nbytes for piece in pieces)
        if length > self._most_bytes:
            raise Refused(f"a step has {length} bytes, and the window takes at most {self._most_bytes}: send fewer "
                          "heads or tokens")
        return self._number(self._answer_to([struct.pack("<Q", length), *pieces]), "step")

    def close(self) -> None:
        self._socket.close()

    def _answer_to(self, pieces: List[Any]) -> Dict[str, Any]:
        try:
            self._send(pieces)
        except (BrokenPipeError, ConnectionResetError):
            self._answer()  # which says why, if the window had anything to say
            raise
        return self._answer()

    def _send(self, pieces: List[Any]) -> None:
        begin = moved = time.monotonic()  # when the window last took something
        try:
            for piece in pieces:
                rest = memoryview(piece)
                while rest.nbytes:
                    self._socket.settimeout(left_until(self._deadline))
                    rest = rest[self._socket.send(rest):]
                    moved = time.monotonic()
        except socket.timeout:
            now = time.monotonic()
            if 2 * (now - moved) > now - begin:
                raise  # it does not take anything any more
            raise TooSlow("timed out") from None

    def _receive(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            self._socket.settimeout(left_until(self._deadline))
            piece = self._socket.recv(count - len(content))
            if not piece:
                raise ConnectionResetError("the window has closed the connection")
            content += piece
        return content

    def _answer(self) -> Dict[str, Any]:
        (length,) = struct.unpack("<Q", self._receive(8))
        if length > LONGEST_ANSWER:
            raise self._no_window()
        try:
            answer = json.loads(self._receive(length))
        except (ValueError, RecursionError) as error:
            raise self._no_window() from error
        if not isinstance(answer, dict):
            raise self._no_window()
        if "error" in answer:
            raise (Busy if answer.get("busy") else Refused)(str(answer["error"]))
        return answer

    def _number(self, answer: Dict[str, Any], name: str) -> int:
        number = answer.get(name)
        if type(number) is not int or number < 0:
            raise self._no_window()
        return number

    def _no_window(self) -> ConnectionError:
        return ConnectionError(f"{self.address} does not answer like a window of Fovea")


def left_until(deadline: float) -> float:
    """Seconds. Raises OSError if there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


def user_of(connection: socket.socket) -> int:
    """The user at the other end of a socket of this machine, where the system says so (Linux)."""
    if not hasattr(socket, "SO_PEERCRED"):
        return os.getuid()
    _, user, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(user)


def _connected(address: Address, deadline: float) -> socket.socket:
    return _to_path(address.path, deadline) if address.path else _to_port(address, deadline)


def _to_port(address: Address, deadline: float) -> socket.socket:
    error: OSError = ConnectionRefusedError(f"{address.host} has no address")
    for family, kind, protocol, _, place in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM):
        try:
            connection = socket.socket(family, kind, protocol)
        except OSError as refused:
            error = refused
            continue
        try:
            connection.settimeout(left_until(deadline))
            connection.connect(place)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError as refused:
            connection.close()
            error = refused
    raise error


def _to_path(path: str, deadline: float) -> socket.socket:
    status = os.lstat(path)  # in a folder that others can write to, it could be anybody's
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        raise ConnectionRefusedError(f"{path} is not a socket of this user")
    connection = socket.socket(socket.AF_UNIX)
    try:
        while True:
            try:
                connection.settimeout(left_until(deadline))
                connection.connect(path)
                break
            except BlockingIOError:  # many programs connect at once
                time.sleep(0.01)
        if user_of(connection) != os.getuid():  # the path may lead elsewhere by now
            raise PermissionError(f"{path} is listened on by another user")
    except BaseException:
        connection.close()
        raise
    return connection
