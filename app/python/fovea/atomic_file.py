"""A file that appears complete under its name or not at all, by the rules of the program.

It has no name while it is written where the system can make such files, so that nothing is left of it when the process
is killed; elsewhere its name is one that nobody can foresee, in the same folder. What it replaces lends it its mode,
owner, access list and extended attributes. The target of a symbolic link is replaced, not the link. A file that is
write-protected is never replaced.
"""
from __future__ import annotations

import os
import secrets
import stat
from typing import Any, BinaryIO, Optional

from .errors import FoveaError

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class AtomicFile:
    """`file` is open for writing and reading. `replace` puts it in its place, `discard` forgets it."""

    def __init__(self, path: "str | os.PathLike[str]") -> None:
        """Raises FoveaError if `path` cannot be written."""
        self.path = os.fspath(path)
        self._target = os.path.realpath(self.path)
        old = self._old()
        self._folder = os.path.dirname(self._target)
        if not os.path.isdir(self._folder):
            raise FoveaError(f"{self.path} is in a directory that does not exist; expected the name of a file")
        self._name: Optional[str] = None  # None: it has none
        mode = 0o666 if old is None else 0o600  # less what the process or its folder masks
        try:
            descriptor = self._nameless(mode)
            if descriptor is None:
                self._name = self._unforeseen()
                descriptor = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except OSError as error:
            raise self._refusal(error) from error
        self.file: BinaryIO = os.fdopen(descriptor, "w+b")

    def replace(self) -> None:
        """Waits until the content is on disk, and gives it the name. Raises FoveaError, and nothing is replaced."""
        try:
            self.file.flush()
            old = self._old()
            if old is not None:
                self._be_like(old)
            os.fsync(self.file.fileno())
            if self._name is None and not self._take_name():
                self._name = self._unforeseen()
                self._link_as(self._name)
            if self._name is not None:
                os.replace(self._name, self._target)
                self._name = None
            self.file.close()
        except OSError as error:
            self.discard()
            raise self._refusal(error) from error
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Removes what was written, unless it has its place already."""
        try:
            self.file.close()
        except OSError:  # what was still to be written does not fit on the disk
            pass
        name, self._name = self._name, None
        if name is not None:
            try:
                os.remove(name)
            except FileNotFoundError:
                pass

    def _old(self) -> Optional[os.stat_result]:
        """What is there. Raises FoveaError for what must not be replaced."""
        try:
            status = os.lstat(self._target)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._refusal(error) from error
        if stat.S_ISDIR(status.st_mode):
            raise FoveaError(f"{self.path} is a directory; expected the name of a file")
        if not stat.S_ISREG(status.st_mode):
            raise FoveaError(f"{self.path} is no regular file; expected the name of a file")
        # Even root, whom the system would let write.
        if not status.st_mode & _WRITABLE or not os.access(self._target, os.W_OK):
            raise FoveaError(f"{self.path} cannot be written: it is write-protected")
        return status

    def _nameless(self, mode: int) -> Optional[int]:
        """A descriptor, where the system and the file system can."""
        if not hasattr(os, "O_TMPFILE"):
            return None
        try:
            descriptor = os.open(self._folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode)
        except OSError:
            return None
        if os.path.exists(f"/proc/self/fd/{descriptor}"):
            return descriptor
        os.close(descriptor)
        return None

    def _unforeseen(self) -> str:
        """A short name: that of the target may be as long as a name can be."""
        return os.path.join(self._folder, f".fovea-{secrets.token_hex(8)}.part")

    def _take_name(self) -> bool:
        """False where the name is taken: a file without one cannot replace another."""
        try:
            self._link_as(self._target)
        except FileExistsError:
            return False
        return True

    def _link_as(self, name: str) -> None:
        own = self.file.fileno()
        # A folder's descriptor, though the path needs none, makes Python call linkat, which follows the link in /proc.
        os.link(f"/proc/self/fd/{own}", name, src_dir_fd=own, follow_symlinks=True)

    def _be_like(self, old: os.stat_result) -> None:
        """Takes mode, owner, access list and attributes of the file that it replaces, as far as it may."""
        own = self.file.fileno()
        mode = stat.S_IMODE(old.st_mode)
        try:
            os.fchown(own, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.fchown(own, -1, old.st_gid)
            except OSError:  # what the old group could do, the new one can only if everybody can
                mode = mode & ~0o070 | (mode & 0o007) << 3
            mode &= 0o777
        os.fchmod(own, mode)
        if not hasattr(os, "listxattr"):
            return
        try:
            names = os.listxattr(self._target)
        except OSError:
            return
        for name in names:
            try:
                os.setxattr(own, name, os.getxattr(self._target, name))
            except OSError:  # one that only the system sets
                pass

    def _refusal(self, error: OSError) -> FoveaError:
        return FoveaError(f"{self.path} cannot be written: {error.strerror or error}")

    def __enter__(self) -> "AtomicFile":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.replace()
        else:
            self.discard()
