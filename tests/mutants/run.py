#!/usr/bin/env python3
"""Introduces one bug at a time and sees whether the tests notice.

  tests/mutants/run.py                   every mutant: about 20 s each on two cores
  tests/mutants/run.py NAME...           those whose names match; `*` stands for anything
  tests/mutants/run.py --list            names, and what each breaks
  tests/mutants/run.py --check           only whether every text to replace is found once (a test)

A mutant is a table in one of the .toml files here: `file` (where it has moved, the only one of its
name), the text to `find`, which must occur exactly once, what to `replace` it by, the `bug` in one
sentence, and which test must notice: `target` and doctest's filter `cases`. A mutant that nobody
could notice carries `equivalent`, the reason why. When a mutant is out of date, correct its text,
or introduce the same bug where the code is now.

The working tree is never touched: it is copied to --scratch and built there. The exit status is 0
when every mutant was killed or is equivalent."""
import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {"name", "file", "find", "replace", "bug", "target", "cases", "equivalent"}


def read_mutants():
    mutants = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        for mutant in tomllib.loads(path.read_text())["mutant"]:
            missing = FIELDS - {"equivalent"} - set(mutant)
            if missing or set(mutant) - FIELDS:
                sys.exit(f"{path.name}: {mutant.get('name', 'a mutant')}: exactly "
                         f"expected {', '.join(sorted(FIELDS))} ('equivalent' is optional)")
            mutants.append(mutant)
    names = [m["name"] for m in mutants]
    for name in sorted({n for n in names if names.count(n) > 1}):
        sys.exit(f"two mutants are called {name}; expected another name for one of them")
    return mutants


def chosen(mutants, patterns):
    for pattern in patterns:
        if not any(fnmatch.fnmatch(m["name"], pattern) for m in mutants):
            sys.exit(f"no mutant is called {pattern}; --list lists them")
    return [m for m in mutants
            if not patterns or any(fnmatch.fnmatch(m["name"], p) for p in patterns)]


def source_of(mutant, root):
    """The file, or the only one of its name where it has moved."""
    path = root / mutant["file"]
    if path.is_file():
        return path
    moved = [p for room in ("core", "app", "kernels") for p in (root / room).rglob(path.name)]
    return moved[0] if len(moved) == 1 else None


def out_of_date(mutant, root):
    """Why the mutant cannot be applied; nothing when it can."""
    path = source_of(mutant, root)
    if not path:
        return f"{mutant['file']} does not exist"
    count = path.read_text().count(mutant["find"])
    if count != 1:
        return f"found {count} times in {path.relative_to(root)}, expected once: {mutant['find']!r}"
    if mutant["find"] == mutant["replace"]:
        return "find and replace are the same"
    return None


def case_names():
    """Of all tests, in lower case: doctest's filters do not mind."""
    literal = r'"((?:[^"\\]|\\.)*)"'
    pattern = re.compile(r"TEST_CASE\(\s*((?:" + literal + r"\s*)+)")
    text = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.cpp"))
    return ["".join(re.findall(literal, found[0])).lower() for found in pattern.findall(text)]


def check(mutants):
    names = case_names()
    stale = []
    for mutant in mutants:
        if why := out_of_date(mutant, ROOT):
            stale.append((mutant["name"], why))
        for cases in mutant["cases"].lower().split(","):
            if not fnmatch.filter(names, cases.replace("[", "[[]")):
                stale.append((mutant["name"], f"no test case is called {cases}"))
    for name, why in stale:
        print(f"{name}: out of date: {why}")
    print(f"{len(mutants)} mutants, {len(stale)} out of date")
    return 1 if stale else 0


def copy_tree(tree):
    """The files of the working tree that git knows or would add; what is unchanged keeps its age."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True).stdout.decode().split("\0")
    names = {name for name in listed if name and (ROOT / name).is_file()}
    for old in tree.rglob("*"):
        name = str(old.relative_to(tree))
        if old.is_file() and name not in names and not name.startswith("build/"):
            old.unlink()
    for name in names:
        source, copy = ROOT / name, tree / name
        if copy.is_file() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        shutil.copymode(source, copy)


class Runner:
    def __init__(self, scratch, jobs, seconds):
        self.tree, self.build_folder = scratch / "tree", scratch / "tree" / "build" / "dev"
        self.jobs, self.seconds = jobs, seconds
        self.log = scratch / "log.txt"

    def command(self, words, seconds=None):
        """Whether it ended well; what it says is kept in the log."""
        with self.log.open("a") as log:
            log.write(f"\n$ {' '.join(map(str, words))}\n")
            log.flush()
            process = subprocess.Popen(words, cwd=self.tree, stdout=log, stderr=log,
                                       stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                return process.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                return False
            finally:  # a test may have started programs of its own
                if process.poll() is None:
                    os.killpg(process.pid, 9)
                    process.wait()

    def prepare(self):
        self.tree.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        copy_tree(self.tree)
        if not self.command(["cmake", "--preset", "dev", "-DFOVEA_CUDA=OFF"]):
            sys.exit(f"cmake failed: see {self.log}")

    def build(self, targets):
        return self.command(["cmake", "--build", self.build_folder, "-j", str(self.jobs),
                             "--target", *targets])

    def test(self, mutant):
        program = self.build_folder / "bin" / mutant["target"]
        words = [program, f"--test-case={mutant['cases']}"]
        if mutant["target"] in ("test_window", "test_canvas"):
            words = ["xvfb-run", "-a", "-s", "-screen 0 1920x1200x24", *words]
        return self.command(words, self.seconds)

    def outcome(self, mutant):
        why = out_of_date(mutant, self.tree)
        if why:
            return "out of date", why
        path = source_of(mutant, self.tree)
        text = path.read_text()
        try:
            path.write_text(text.replace(mutant["find"], mutant["replace"]))
            if not self.build([mutant["target"]]):
                return "does not build", f"see {self.log}"
            return ("SURVIVED", mutant["bug"]) if self.test(mutant) else ("killed", "")
        finally:
            path.write_text(text)


def run(mutants, options):
    runner = Runner(options.scratch.resolve(), options.jobs, options.seconds)
    runner.prepare()
    print("building the tests", flush=True)
    if not runner.build(sorted({m["target"] for m in mutants})):
        sys.exit(f"the tree does not build: see {runner.log}")
    tests = {(m["target"], m["cases"]): m for m in mutants}
    broken = {key for key, mutant in tests.items() if not runner.test(mutant)}
    for target, cases in sorted(broken):  # by itself, or it matches no case: it proves nothing
        print(f"without any mutant {target} --test-case='{cases}' fails", flush=True)
    counts = {}
    for mutant in mutants:
        start = time.monotonic()
        if (mutant["target"], mutant["cases"]) in broken:
            result, why = "test fails anyway", ""
        else:
            result, why = runner.outcome(mutant)
        if result == "SURVIVED" and "equivalent" in mutant:
            result, why = "equivalent", mutant["equivalent"]
        counts[result] = counts.get(result, 0) + 1
        print(f"{result:14} {mutant['name']}  ({time.monotonic() - start:.0f} s)"
              + (f"\n               {why}" if why else ""), flush=True)
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    return 0 if set(counts) <= {"killed", "equivalent"} else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "mutants", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=300, help="until a test counts as failed")
    options = parser.parse_args()
    mutants = chosen(read_mutants(), options.names)
    if options.check:
        return check(mutants)
    if options.list:
        for mutant in mutants:
            print(f"{mutant['name']}: {mutant['bug']}")
        return 0
    return run(mutants, options)


if __name__ == "__main__":
    sys.exit(main())
