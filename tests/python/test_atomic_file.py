"""Files that appear whole: what is kept, what is refused, and that nothing is left."""
import errno
import os
import signal
import stat
import struct
import subprocess
import sys
import threading
import unittest
from unittest import mock

from package import ROOT, InFolder, needs


def attribute_works(path, name, value):
    try:
        os.setxattr(path, name, value)
    except OSError:
        return False
    return os.getxattr(path, name) == value


class Nameless(InFolder):
    """Files without a name while they are written, where the system has these."""

    def setUp(self):
        super().setUp()
        from fovea import FoveaError
        from fovea.atomic_file import AtomicFile

        self.error, self.kind = FoveaError, AtomicFile

    def write(self, path, content=b"new"):
        with self.kind(path) as whole:
            whole.file.write(content)

    def test_a_new_file_has_the_mode_that_the_process_gives(self):
        before = os.umask(0o027)
        try:
            self.write(self.path())
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE(self.path().stat().st_mode), 0o640)
        self.assertEqual(self.path().read_bytes(), b"new")
        self.assertEqual(self.files(), ["run.safetensors"])

    def test_mode_owner_and_attributes_are_kept(self):
        # version 2: the owner rwx, user 1234 r--, the group r-x, mask rwx, others ---
        access = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in (
            (1, 7, 0xFFFFFFFF), (2, 4, 1234), (4, 5, 0xFFFFFFFF), (0x10, 7, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF)))
        self.path().write_bytes(b"before")
        self.path().chmod(0o751)
        if os.geteuid() == 0:
            os.chown(self.path(), 1234, 2345)
        attributes = {name: value for name, value in (("user.origin", b"me"), ("system.posix_acl_access", access))
                      if attribute_works(self.path(), name, value)}
        old = self.path().stat()
        self.write(self.path())
        new = self.path().stat()
        self.assertEqual((new.st_mode, new.st_uid, new.st_gid), (old.st_mode, old.st_uid, old.st_gid))
        self.assertEqual({name: os.getxattr(self.path(), name) for name in attributes}, attributes)
        self.assertNotEqual(new.st_ino, old.st_ino)

    def test_no_rights_come_from_the_folder_and_no_program_runs_as_its_owner(self):
        # version 2: the owner rwx, user 1234 rwx, the group r-x, mask rwx, others ---
        given = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in (
            (1, 7, 0xFFFFFFFF), (2, 7, 1234), (4, 5, 0xFFFFFFFF), (0x10, 7, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF)))
        self.path().write_bytes(b"before")
        self.path().chmod(0o4750)
        has_lists = attribute_works(self.path().parent, "system.posix_acl_default", given)
        self.write(self.path())
        self.assertEqual(stat.S_IMODE(self.path().stat().st_mode), 0o750)
        if not has_lists:
            self.skipTest("this file system has no access lists")
        self.assertNotIn("system.posix_acl_access", os.listxattr(self.path()))

    def test_an_access_list_that_cannot_be_removed_lends_no_rights(self):
        self.path().write_bytes(b"before")
        self.path().chmod(0o674)
        with mock.patch("os.removexattr", side_effect=PermissionError(1, "no")):
            self.write(self.path())
        self.assertEqual(stat.S_IMODE(self.path().stat().st_mode), 0o644)

    def test_what_cannot_get_a_name_is_copied(self):
        content = bytes(range(256)) * 1000
        for number in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOENT):
            for before in (None, b"before"):
                self.path().unlink(missing_ok=True)
                if before is not None:
                    self.path().write_bytes(before)
                    self.path().chmod(0o640)
                with mock.patch("os.link", side_effect=OSError(number, "no")):
                    self.write(self.path(), content)
                self.assertEqual(self.path().read_bytes(), content)
                self.assertEqual(self.files(), ["run.safetensors"])
                if before is not None:
                    self.assertEqual(stat.S_IMODE(self.path().stat().st_mode), 0o640)

    def test_a_temporary_name_is_locked_and_attempts_end(self):
        import fcntl

        with mock.patch.object(self.kind, "_nameless", lambda self, mode: None):
            whole = self.kind(self.path())
            with open(whole._name, "rb") as other, self.assertRaises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            whole.discard()
            with mock.patch("fcntl.flock", side_effect=BlockingIOError(errno.EWOULDBLOCK, "taken")):
                with self.assertRaisesRegex(self.error, "run.safetensors cannot be written: other programs"):
                    self.kind(self.path())
            with mock.patch("fcntl.flock", side_effect=OSError(errno.ENOLCK, "no locks")):
                self.write(self.path())
        self.assertEqual(self.path().read_bytes(), b"new")
        self.assertEqual(self.files(), ["run.safetensors"])

    def test_a_group_that_cannot_be_kept_lends_no_rights(self):
        self.path().write_bytes(b"before")
        self.path().chmod(0o674)
        with mock.patch("os.fchown", side_effect=PermissionError(1, "no")):
            self.write(self.path())
        self.assertEqual(stat.S_IMODE(self.path().stat().st_mode), 0o644)

    def test_links_lead_to_their_target(self):
        self.path("target").write_bytes(b"before")
        self.path("link").symlink_to("target")
        self.path("waits").symlink_to(self.path("to come"))
        self.write(self.path("link"))
        self.write(self.path("waits"))
        self.assertTrue(self.path("link").is_symlink() and self.path("waits").is_symlink())
        self.assertEqual(self.path("target").read_bytes(), b"new")
        self.assertEqual(self.path("to come").read_bytes(), b"new")

    def test_what_must_not_be_replaced_is_refused(self):
        self.path().write_bytes(b"before")
        self.path().chmod(0o444)
        with self.assertRaisesRegex(self.error, "run.safetensors cannot be written: it is write-protected"):
            self.kind(self.path())
        self.path("other").write_bytes(b"before")
        with self.assertRaisesRegex(self.error, "write-protected"):  # only now
            with self.kind(self.path("other")) as whole:
                whole.file.write(b"new")
                self.path("other").chmod(0o444)
        self.assertEqual([self.path(name).read_bytes() for name in self.files()], [b"before", b"before"])
        self.path("pipe").unlink(missing_ok=True)
        os.mkfifo(self.path("pipe"))
        for name, words in (("pipe", "no regular file"), (".", "is a directory"), ("none/x", "does not exist"),
                            ("x" * 300, "File name too long")):
            with self.assertRaisesRegex(self.error, words):
                self.kind(self.path(name))

    def test_the_longest_names_are_replaced_too(self):
        name = "x" * 255
        for content in (b"one", b"two"):
            self.write(self.path(name), content)
        self.assertEqual(self.path(name).read_bytes(), b"two")
        self.assertEqual(self.files(), [name])

    def test_writers_of_one_path_never_mix(self):
        one, other = self.kind(self.path()), self.kind(self.path())
        one.file.write(b"one, ")
        other.file.write(b"two")
        other.replace()
        one.file.write(b"as a whole")
        self.assertEqual(self.path().read_bytes(), b"two")
        one.replace()
        self.assertEqual(self.path().read_bytes(), b"one, as a whole")
        self.assertEqual(self.files(), ["run.safetensors"])

    def test_no_name_can_be_prepared(self):
        """A link that somebody else has made where the temporary file would be is not followed."""
        self.path("thesis").write_bytes(b"years of work")
        self.path().write_bytes(b"before")
        names = [f".run.safetensors.{os.getpid()}.part", ".fovea-guess.part", ".fovea-other.part"]
        for name in names:
            self.path(name).symlink_to("thesis")
        self.write(self.path())
        with mock.patch("secrets.token_hex", return_value="guess"), self.assertRaisesRegex(self.error, "exists"):
            self.write(self.path())
        self.assertEqual(self.path("thesis").read_bytes(), b"years of work")
        self.assertEqual(self.path().read_bytes(), b"new")

    def test_a_disk_that_is_full_leaves_the_file_as_it_was(self):
        self.path().write_bytes(b"before")
        with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")), self.assertRaisesRegex(
                self.error, "No space left"):
            self.write(self.path())
        self.assertEqual(self.path().read_bytes(), b"before")
        self.assertEqual(self.files(), ["run.safetensors"])

    def test_nothing_is_left_of_a_process_that_is_killed(self):
        whole = self.kind(self.path())
        named = whole._name is not None
        whole.discard()
        if named:
            self.skipTest("no file without a name can be made here")
        script = (f"import os, sys; sys.path.insert(0, {str(ROOT / 'app' / 'python')!r})\n"
                  "from fovea.atomic_file import AtomicFile\n"
                  f"AtomicFile({str(self.path())!r}).file.write(bytes(1 << 20)); os.kill(os.getpid(), 9)")
        done = subprocess.run([sys.executable, "-c", script])
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(self.files(), [])

    def test_what_a_killed_writer_left_is_removed_by_the_next_one(self):
        """Those that somebody holds stay, and whatever is no file of this user."""
        import fcntl

        script = (f"import os, sys; sys.path.insert(0, {str(ROOT / 'app' / 'python')!r})\n"
                  "from fovea.atomic_file import AtomicFile\n"
                  "AtomicFile._nameless = lambda self, mode: None\n"
                  f"AtomicFile({str(self.path())!r}).file.write(bytes(1 << 20)); os.kill(os.getpid(), 9)")
        subprocess.run([sys.executable, "-c", script])
        (left,) = self.files()
        self.assertRegex(left, r"^\.fovea-\w+\.part$")
        self.path("thesis").write_bytes(b"years of work")
        self.path(".fovea-link.part").symlink_to("thesis")
        os.mkfifo(self.path(".fovea-pipe.part"))
        self.path(".fovea-folder.part").mkdir()
        self.path(".fovea-mine.txt").write_bytes(b"")
        others = [".fovea-folder.part", ".fovea-link.part", ".fovea-mine.txt", ".fovea-pipe.part", "thesis"]
        if os.geteuid() == 0:
            self.path(".fovea-other.part").write_bytes(b"")
            os.chown(self.path(".fovea-other.part"), 1234, 2345)
            others.insert(3, ".fovea-other.part")
        self.path().write_bytes(b"before")  # to replace it, a file takes a name
        with open(self.path(left), "rb") as holder:
            fcntl.flock(holder, fcntl.LOCK_EX)
            self.write(self.path())
            self.assertIn(left, self.files())
        self.write(self.path())
        self.assertEqual(self.files(), sorted([*others, "run.safetensors"]))
        self.assertEqual(self.path("thesis").read_bytes(), b"years of work")

    @needs("numpy")
    def test_threads_save_to_one_path(self):
        import numpy

        import fovea

        errors = []

        def save(value):
            try:
                array = numpy.full((2, 300, 8), value, "f4")
                fovea.save(self.path(), array, array, array)
            except BaseException as error:
                errors.append(error)

        for _ in range(8):
            threads = [threading.Thread(target=save, args=[value]) for value in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            values = {float(x) for array in fovea.read(self.path()).arrays.values() for x in array.reshape(-1)}
            self.assertEqual(len(values), 1)
        self.assertEqual(errors, [])
        self.assertEqual(self.files(), ["run.safetensors"])


class Named(Nameless):
    """The same where files must have a name from the beginning."""

    def setUp(self):
        super().setUp()
        without = mock.patch.object(self.kind, "_nameless", lambda self, mode: None)
        without.start()
        self.addCleanup(without.stop)


if __name__ == "__main__":
    unittest.main()
