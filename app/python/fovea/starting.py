"""Starts a window, once, whichever threads and processes ask for it at the same time."""
from __future__ import annotations

import os
import stat
import subprocess
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Optional

from .errors import FoveaError
from .link import Address, Link, runtime_folder
from .program import program

START_SECONDS = 30.0  # that a call waits for a window that starts; later calls wait no longer than for any window
LOOK_SECONDS = 0.02  # between two looks whether it listens
TAIL = 2000  # bytes of what it printed that a message repeats


class Start(NamedTuple):
    """A window that this process started, and that outlives it."""

    process: Any  # subprocess.Popen
    words: str
    said: Any  # a file of what it prints
    by: int  # the process that started it: after a fork it is not this one


_starts: Dict[Address, Start] = {}
_ends: Dict[Address, float] = {}  # until when calls wait for a start


def started_link(where: Address, name: str, timeout: float, deadline: float) -> Link:
    """Waits until a window listens at `where`, and starts one unless one is being started already.

    Raises FoveaError if it ends or does not listen in time. A later call waits for the same one.
    """
    end = max(deadline, _ends.setdefault(where, time.monotonic() + START_SECONDS))
    lock = StartLock(own_folder())
    try:
        while True:
            try:
                link = Link(where, time.monotonic() + timeout)
                _ends.pop(where, None)
                return link
            except (FileNotFoundError, ConnectionRefusedError):
                pass
            start = _start_of(where)
            if start is not None and start.process.poll() is not None:
                del _starts[where]
                _ends.pop(where, None)
                with start.said:
                    message = tail(start.said) or f"{start.words} ended with {start.process.returncode}"
                raise FoveaError(f"no window can be started: {message}\n"
                                 "On a machine without a screen, send to a window elsewhere: see address=")
            if start is None and not lock.held:
                if lock.take():
                    continue  # another process may have started one meanwhile
            elif start is None and not lock.starts():
                _starts[where] = start = begin([*program(), f"live:{name}"])
                lock.note(start.process.pid)
                _ends[where] = end = time.monotonic() + START_SECONDS
            if time.monotonic() >= end:
                raise FoveaError(_not_there(where, start))
            time.sleep(LOOK_SECONDS)
    finally:
        lock.close()


def own_folder() -> str:
    """The folder of the window's socket, made as the program makes it. Raises FoveaError if others can enter it."""
    folder = runtime_folder()
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise FoveaError(f"{folder} cannot be made: {error.strerror}") from error
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise FoveaError(f"{folder} is not a folder of your own that nobody else can enter: no window can listen there")
    return folder


class StartLock:
    """FOLDER/start.lock: held by the process that starts a window, it names the window that was started last."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "start.lock")
        self.held = False
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise FoveaError(f"{self.path} cannot be opened: {error.strerror}") from error

    def take(self) -> bool:
        """Takes the lock unless another process holds it."""
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.held = True
        except BlockingIOError:
            pass
        except OSError as error:
            raise FoveaError(f"{self.path} cannot be locked: {error.strerror}") from error
        return self.held

    def note(self, process: int) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, _identity(process).encode(), 0)

    def starts(self) -> bool:
        """Whether the window that was started last runs: it may be on its way yet."""
        noted = os.pread(self._file, 100, 0).decode("ascii", "replace")
        process = noted.partition(" ")[0]
        return process.isdigit() and _identity(int(process)) == noted

    def close(self) -> None:
        if self.held:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_UN)  # a process forked meanwhile has the file open too
        os.close(self._file)


def _identity(process: int) -> str:
    """A process and when it began, since numbers are used again; empty where it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else f"{process} {fields[19]}"
    except (OSError, IndexError):
        return ""


def _start_of(where: Address) -> Optional[Start]:
    start = _starts.get(where)
    return start if start is not None and start.by == os.getpid() else None


def begin(words: List[str]) -> Start:
    """Starts a window. Raises FoveaError if there is no such program."""
    said = tempfile.TemporaryFile()
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
    except OSError as error:
        said.close()
        raise FoveaError(f"{words[0]} cannot be started: {error.strerror}") from error
    return Start(process, " ".join(words), said, os.getpid())


def _not_there(where: Address, start: Optional[Start]) -> str:
    if start is None:
        return (f"another program is starting a window, which does not listen at {where} yet: call again when the "
                "window is there")
    said = tail(start.said)
    return (f"{start.words} was started and does not listen at {where} yet: call again when the window is there"
            + (f". It printed:\n{said}" if said else ""))


def tail(said: Any) -> str:
    """The last lines that were printed. The process writes where this file stands: it must stay there."""
    size = os.fstat(said.fileno()).st_size
    content = os.pread(said.fileno(), TAIL, max(0, size - TAIL)).decode("utf-8", "replace")
    if size > TAIL:
        content = content.partition("\n")[2] or content
    return content.strip()
