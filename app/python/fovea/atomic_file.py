"""A file that appears complete under its name or not at all, by the rules of the program.

It has no name while it is written where the system can make such files, so that nothing is left of it when the process
is killed; elsewhere its name is one that nobody can foresee, in the same folder, and it is locked while it has this
name, so that no other writer takes it for one that is left over. Those of this user that nobody has locked, which a
killed writer left, are removed by the next one that needs such a name. What it replaces lends it its mode, owner,
access list and user attributes. The target of a symbolic link is replaced, not the link. A file that is write-protected
is never replaced.
"""
from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from contextlib import suppress
from typing import Any, BinaryIO, Optional

from .errors import FoveaError

_ACCESS_LIST = "system.posix_acl_access"
_BEGIN, _END = ".fovea-", ".part"  # of temporary names
_MOST_ATTEMPTS = 16
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
        self._mode = 0o666 if old is None else 0o600  # less what the process or its folder masks
        try:
            descriptor = self._nameless(self._mode)
            if descriptor is None:
                descriptor = self._named()
        except OSError as error:
            raise self._refusal(error) from error
        self.file: BinaryIO = os.fdopen(descriptor, "w+b")

    def replace(self) -> None:
        """Waits until the content is on disk, and gives it the name. Raises FoveaError, and nothing is replaced."""
        try:
            self._sync()
            if self._name is not None or self._old() is not None or not self._link_as(self._target):
                self._take_name()
                old = self._old()
                if old is not None:
                    self._be_like(old)
                    self._sync()
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
            _remove(name)

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

    def _named(self) -> int:
        """A descriptor.

        Another writer may look at the file before it is locked, take it for one that is left over and remove it: then
        another is made.
        """
        _remove_left_overs(self._folder)
        for _ in range(_MOST_ATTEMPTS):
            self._name = self._unforeseen()
            descriptor = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, self._mode)
            if _lock(descriptor) and os.path.exists(self._name):
                return descriptor
            os.close(descriptor)
            _remove(self._name)
        raise OSError(errno.EBUSY, "other programs remove or lock new files in its folder; try again, or choose "
                                   "another folder")

    def _unforeseen(self) -> str:
        """A short name: that of the target may be as long as a name can be."""
        return os.path.join(self._folder, f"{_BEGIN}{secrets.token_hex(8)}{_END}")

    def _take_name(self) -> None:
        """Gives it a temporary name, unless it has one: a file without a name cannot replace another.

        Some file systems make files without a name, but give them none later: then its content is copied.
        """
        if self._name is not None:
            return
        _remove_left_overs(self._folder)
        _lock(self.file.fileno())
        self._name = self._unforeseen()
        if self._link_as(self._name):
            return
        with self.file as nameless:
            self.file = os.fdopen(self._named(), "w+b")
            nameless.seek(0)
            shutil.copyfileobj(nameless, self.file)
        self._sync()

    def _link_as(self, name: str) -> bool:
        own = self.file.fileno()
        try:
            # A folder's descriptor, though the path needs none, makes Python call linkat, which follows the link in
            # /proc.
            os.link(f"/proc/self/fd/{own}", name, src_dir_fd=own, follow_symlinks=True)
        except OSError:
            return False
        return True

    def _sync(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())

    def _be_like(self, old: os.stat_result) -> None:
        """Takes mode, owner, access list and user attributes of the file that it replaces, as far as it may."""
        own = self.file.fileno()
        mode = old.st_mode & 0o777
        keeps_group = True
        try:
            os.fchown(own, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.fchown(own, -1, old.st_gid)
            except OSError:
                keeps_group = False
        if not self._take_attributes() or not keeps_group:
            mode = mode & 0o707 | mode & (mode & 0o007) << 3  # what the old group could do only if everybody can
        os.fchmod(own, mode)

    def _take_attributes(self) -> bool:
        """Whether it has the access list of the file that it replaces now, or none if that has none.

        A new file inherits the default list of its folder.
        """
        if not hasattr(os, "listxattr"):
            return True
        own = self.file.fileno()
        try:
            names = os.listxattr(self._target, follow_symlinks=False)
        except OSError as error:
            return error.errno == errno.EOPNOTSUPP
        kept = True
        for name in names:
            if name != _ACCESS_LIST and not name.startswith("user."):
                continue
            try:
                os.setxattr(own, name, os.getxattr(self._target, name, follow_symlinks=False))
            except OSError:
                kept = kept and name != _ACCESS_LIST
        if _ACCESS_LIST not in names:
            try:
                os.removexattr(own, _ACCESS_LIST)
            except OSError as error:
                kept = error.errno in (errno.ENODATA, errno.EOPNOTSUPP)
        return kept

    def _refusal(self, error: OSError) -> FoveaError:
        return FoveaError(f"{self.path} cannot be written: {error.strerror or error}")

    def __enter__(self) -> "AtomicFile":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.replace()
        else:
            self.discard()


def _remove(name: str) -> None:
    try:
        os.remove(name)
    except FileNotFoundError:
        pass


def _remove_left_overs(folder: str) -> None:
    """A folder that cannot be listed keeps them, and so does a system without locks."""
    try:
        import fcntl

        names = os.listdir(folder)
    except (ImportError, OSError):
        return
    for name in names:
        if not name.startswith(_BEGIN) or not name.endswith(_END):
            continue
        path = os.path.join(folder, name)
        with suppress(OSError):  # another writer has it locked, or has removed it
            # For writing, as NFS gives no exclusive lock otherwise.
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.remove(path)
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """False if another process has the lock; True also where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
