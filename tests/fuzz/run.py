#!/usr/bin/env python3
"""Tries bytes that libFuzzer makes up on every parser, under address and undefined behaviour sanitizers.

    python3 tests/fuzz/run.py [--seconds 120] [--runs N] [--fast] [--keep] [PARSER...]

Each parser gets its share of the seconds, as many parsers at a time as there are processors. It begins with the
kept corpus and the seeds. Exit status 1 when a parser crashed, hung or broke a rule; the bytes are then in
build/fuzz/findings. --keep replaces the kept corpus by the fewest inputs that reach as much code. The program is
that of the preset `fuzz`, built with clang:  cmake --preset fuzz && cmake --build --preset fuzz

--fast takes that of the preset `fuzz-fast`, without sanitizers: several times as many inputs. What they reach is
added to the corpus of build/fuzz, where the next run without --fast tries it under the sanitizers.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
build = root / "build" / "fuzz"  # its corpus and findings; programs are of this preset, or of fuzz-fast


def unpack(name, folder):
    archive = here / "corpus" / f"{name}.zip"
    if archive.exists():
        with zipfile.ZipFile(archive) as members:
            members.extractall(folder)


def keep(name, folder):
    (here / "corpus").mkdir(exist_ok=True)
    with zipfile.ZipFile(here / "corpus" / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number, path in enumerate(sorted(folder.iterdir(), key=lambda p: (p.stat().st_size, p.read_bytes()))):
            member = zipfile.ZipInfo(f"{number:04}", (2026, 1, 1, 0, 0, 0))
            archive.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED)


def fuzz(programs, name, folder, options, shm):
    """libFuzzer's output and exit status. Files that parsers read lie in `shm`."""
    with tempfile.TemporaryDirectory(dir=shm) as temporary:
        environment = dict(os.environ, FOVEA_PARSER=name, TMPDIR=temporary,
                           ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0")
        done = subprocess.run([programs / "fuzz", *options, *folder], env=environment, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode


def number_in(output, what):
    found = re.search(rf"stat::{what}:\s*(\d+)", output)
    return int(found.group(1)) if found else 0


def what_happened(output):
    """Without libFuzzer's progress."""
    return "\n".join(line for line in output.splitlines() if not line.startswith("#"))[-6000:]


def try_parser(programs, name, seeds, wanted, seconds, shm):
    corpus = build / "corpus" / name
    findings = build / "findings"
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    unpack(name, corpus)
    longest = max(2000, *(4 * seed.stat().st_size for seed in (seeds / name).iterdir()))
    options = [f"-max_len={longest}", "-timeout=20", "-rss_limit_mb=2500", "-print_final_stats=1",
               f"-artifact_prefix={findings}/{name}-", f"-use_value_profile={int(not wanted.fast)}"]
    options += [f"-runs={wanted.runs}"] if wanted.runs else [f"-max_total_time={seconds}"]
    output, status = fuzz(programs, name, [corpus, seeds / name], options, shm)
    if wanted.keep and status == 0:
        fewest = pathlib.Path(tempfile.mkdtemp(dir=shm))
        merging = ["-merge=1", options[0], "-timeout=20"]
        merged, status = fuzz(programs, name, [fewest, corpus, seeds / name], merging, shm)
        if status == 0:
            keep(name, fewest)
        else:
            output += merged
        shutil.rmtree(fewest)
    return name, output, status


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--seconds", type=int, default=120, help="in all")
    arguments.add_argument("--runs", type=int, default=0, help="of each parser, instead of seconds")
    arguments.add_argument("--fast", action="store_true", help="without sanitizers: the preset fuzz-fast")
    arguments.add_argument("--keep", action="store_true", help="replace the kept corpus")
    arguments.add_argument("parsers", nargs="*")
    wanted = arguments.parse_args()
    preset = "fuzz-fast" if wanted.fast else "fuzz"
    programs = root / "build" / preset / "bin"
    if not (programs / "fuzz").exists():
        print(f"tests/fuzz/run.py: build/{preset}/bin/fuzz is not built:  cmake --preset {preset} && "
              f"cmake --build --preset {preset}", file=sys.stderr)
        return 77
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    workers = os.cpu_count() or 1
    tried, failed = 0, 0
    with tempfile.TemporaryDirectory(dir=shm) as seeds:
        names = subprocess.run([programs / "write_seeds", seeds], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split()
        names = wanted.parsers or names
        rounds = -(-len(names) // workers)
        seconds = max(1, wanted.seconds // rounds)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            tasks = [pool.submit(try_parser, programs, name, pathlib.Path(seeds), wanted, seconds, shm) for name in names]
            for task in concurrent.futures.as_completed(tasks):
                name, output, status = task.result()
                count = number_in(output, "number_of_executed_units")
                tried += count
                print(f"{name}: {count} inputs, {number_in(output, 'average_exec_per_sec')} a second"
                      + ("" if status == 0 else f": FAILED\n{what_happened(output)}"), flush=True)
                failed += status != 0
    print(f"{len(names)} parsers, {tried} inputs in all, {failed} parsers failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
