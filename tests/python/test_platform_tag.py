"""The platform tag of a wheel is that of the symbols which its files need."""
import os
import shutil
import subprocess
import sys
import unittest

from package import ROOT, InFolder, needs

sys.path.insert(0, str(ROOT / "app" / "python"))


@needs("auditwheel")
@unittest.skipUnless(shutil.which("gcc"), "gcc makes the files")
class PlatformTag(InFolder):
    def library(self, name, *asks, needs=(), folder="lib"):
        """A library that needs symbols of some versions, of libraries that are made for it."""
        made = self.folder / "made"
        made.mkdir(exist_ok=True)
        tree = self.folder / "tree" / folder
        tree.mkdir(parents=True, exist_ok=True)
        links = []
        for library, version in [*asks, *((library, "") for library in needs)]:
            symbol = "s" + (version or library).translate(str.maketrans("._-+", "____"))
            script = made / "versions"
            script.write_text(f"{version} {{ global: {symbol}; }};" if version else f"{{ global: {symbol}; }};")
            path = made / f"{len(links)}-{library}"
            self.gcc("-Wl,-soname," + library, f"-Wl,--version-script={script}", "-o", path, code=f"int {symbol};")
            links.append((path, symbol))
        code = "".join(f"extern int {symbol}; int *p{i} = &{symbol};" for i, (_, symbol) in enumerate(links))
        self.gcc("-Wl,-soname," + name, "-o", tree / name, *(path for path, _ in links), code=code + "int one;")

    def gcc(self, *words, code):
        subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-x", "none", *map(str, words)],
                       input=code, text=True, check=True)

    def tag(self):
        from platform_tag import platform_tag

        return platform_tag(self.folder / "tree").rpartition("_x86")[0] or "none"

    @unittest.skipUnless(os.uname().machine == "x86_64", "versions are those of x86-64")
    def test_the_newest_version_decides(self):
        self.library("libone.so", ("libc.so.6", "GLIBC_2.17"))
        self.assertEqual(self.tag(), "manylinux_2_17")
        self.library("libtwo.so", ("libm.so.6", "GLIBC_2.35"), needs=["libone.so"])
        self.assertEqual(self.tag(), "manylinux_2_35")
        self.library("libstdc++.so.6", ("libc.so.6", "GLIBC_2.36"), folder="lib/otherwise")  # every system has one
        self.assertEqual(self.tag(), "manylinux_2_35")
        self.library("libthree.so", ("libstdc++.so.6", "GLIBCXX_3.4.33"))
        self.assertEqual(self.tag(), "manylinux_2_39")
        self.library("libdbus-1.so.3", ("libc.so.6", "GLIBC_2.41"), folder="lib/otherwise")  # not every system
        self.assertEqual(self.tag(), "manylinux_2_41")

    def test_no_tag_that_would_lie(self):
        self.library("libone.so", ("libc.so.6", "GLIBC_9.99"))
        with self.assertRaisesRegex(SystemExit, "no system that auditwheel knows has all of GLIBC_9.99"):
            self.tag()
        self.library("libone.so", ("libc.so.6", "GLIBC_PRIVATE"))
        with self.assertRaisesRegex(SystemExit, "libone.so needs GLIBC_PRIVATE"):
            self.tag()
        self.library("libone.so", needs=["libnowhere.so.1"])
        with self.assertRaisesRegex(SystemExit, "libone.so needs libnowhere.so.1, which is not in"):
            self.tag()


if __name__ == "__main__":
    unittest.main()
