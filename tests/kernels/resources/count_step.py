#!/usr/bin/env python3
"""Counts what a warp issues for one KV tile of 64 keys in the kernels of attention on tensor cores.

count_step.py FILE...: object files or cubins of attend_bf16.cu or attend_fp16.cu. Needs cuobjdump of the
CUDA toolkit. It counts the shortest way around the loop that has the products: without masks, without a
new maximum, and without the loops that copy keys and values. The instructions of these loops for one copy of
16 bytes are shown apart.
"""
import heapq
import re
import shutil
import subprocess
import sys

SHOWN = ("HMMA", "LDSM", "MUFU")  # products, reads of shared memory, exp2


def kernels(file):
    """Of each kernel [(address, instruction)]."""
    tool = shutil.which("cuobjdump") or sys.exit("count_step.py: no cuobjdump; install the CUDA toolkit")
    listing = subprocess.run([tool, "-sass", file], capture_output=True, text=True, check=True).stdout
    found, current = {}, None
    for line in listing.splitlines():
        if name := re.search(r"Function : (\S+)", line):
            current = found.setdefault(name.group(1), [])
        elif current is not None and (text := re.match(r"\s+/\*([0-9a-f]{4,5})\*/\s+(.*?);", line)):
            current.append((int(text.group(1), 16), text.group(2).strip()))
    return found


def target(text):
    """(address, always) of a branch, or nothing."""
    branch = re.match(r"(@!?U?P\w+ )?BRA\b(.*)0x([0-9a-f]+)\s*$", text)
    return branch and (int(branch.group(3), 16), not branch.group(1) and "P" not in branch.group(2))


def successors(code):
    at = {address: i for i, (address, _) in enumerate(code)}
    for i, (_, text) in enumerate(code):
        branch = target(text)
        after = [at[branch[0]]] if branch and branch[0] in at else []
        ends = branch[1] if branch else re.match(r"(EXIT|RET|BRX)\b", text)
        yield after if ends or i + 1 == len(code) else after + [i + 1]


def shortest(follows, start, end):
    """The instructions after `start` up to `end`."""
    best, before, queue = {start: 0}, {}, [(0, start)]
    while queue:
        length, i = heapq.heappop(queue)
        if i == end:
            break
        for j in follows[i]:
            if length + 1 < best.get(j, len(follows) + 1):
                best[j], before[j] = length + 1, i
                heapq.heappush(queue, (length + 1, j))
    way = []
    while end != start:
        way.append(end)
        end = before[end]
    return way


def operation(text):
    return re.sub(r"^@!?U?P\w+ ", "", text).split()[0].split(".")[0]


def copy_loops(code):
    """Instructions for a copy, of each loop that does nothing else."""
    at = {address: i for i, (address, _) in enumerate(code)}
    for i, (_, text) in enumerate(code):
        branch = target(text)
        first = at.get(branch[0], i) if branch else i
        body = [operation(each) for _, each in code[first:i + 1]]
        if first < i and "LDGSTS" in body and "HMMA" not in body:
            yield len(body) // body.count("LDGSTS")


def main(files):
    if not files:
        sys.exit(__doc__)
    for file in files:
        for name, code in kernels(file).items():
            products = [i for i, (_, text) in enumerate(code) if operation(text) == "HMMA"]
            if not products:
                continue
            follows = list(successors(code))
            first, last = products[0], products[-1]
            step = shortest(follows, first, last) + shortest(follows, last, first)
            counts = [operation(code[i][1]) for i in step]
            print(name)
            print(f"  {len(step)} instructions: " +
                  ", ".join(f"{counts.count(each)} {each}" for each in SHOWN) +
                  f"; {min(copy_loops(code), default=0)} for each copy of 16 bytes")


main(sys.argv[1:])
