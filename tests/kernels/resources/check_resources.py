"""check_resources.py BUDGETS FOLDER: the kernels compiled into FOLDER use no more than BUDGETS allows.

FOLDER holds what keep_resources.sh has kept. Kernels of other devices than those that the budgets are
for are not looked at. A budget may name its architecture, which need not have been compiled for, and an
optional one need not find its kernel. The exit status is 77 if there is nothing to look at.
"""

import re
import sys
import tomllib
from pathlib import Path

ARCHITECTURES = ("sm_80", "sm_90", "sm_90a")
USES = re.compile(r"Used (\d+) registers")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
# Products of warpgroups that ptxas could not leave running: C7510 and those that follow.
SERIALIZED = re.compile(r"C75\d\d|serialized|is injected")
ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\w+)'")


def kernels(folder):
    """(mangled name, architecture, what it uses)"""
    for path in sorted(folder.rglob("*.resources")):
        for text in path.read_text().split("ptxas info    : Compiling entry function")[1:]:
            name, architecture = ENTRY.search("Compiling entry function" + text).groups()
            stack, *spilled = map(int, STACK.search(text).groups())
            used = {"registers": int(USES.search(text)[1]), "spilled": sum(spilled), "stack": stack}
            yield name, architecture, used


def main():
    budgets = tomllib.loads(Path(sys.argv[1]).read_text())["kernel"]
    found = [k for k in kernels(Path(sys.argv[2])) if k[1] in ARCHITECTURES]
    if not found:
        print("no kernels for", " or ".join(ARCHITECTURES))
        return 77
    wrong = 0
    for path in sorted(Path(sys.argv[2]).rglob("*.resources")):
        for line in filter(SERIALIZED.search, path.read_text().splitlines()):
            print(f"{path.name}: {line}")
            wrong += 1
    for budget in budgets:
        architecture = budget.get("architecture")
        its = [k for k in found if budget["name"] in k[0] and architecture in (None, k[1])]
        if not its and architecture and not any(k[1] == architecture for k in found):
            continue
        if not its and budget.get("optional"):
            continue
        if not its:
            print(f"{budget['name']}: no such kernel; expected one, or no budget for it")
            wrong += 1
        for name, architecture, used in its:
            over = [what for what in used if used[what] > budget[what]]
            wrong += len(over)
            mark = "  TOO MUCH" if over else ""
            print(f"{name}, {architecture}: " + ", ".join(f"{used[w]} {w}" for w in used) + mark)
            for what in over:
                print(f"  {used[what]} {what}, expected at most {budget[what]}")
    return 1 if wrong else 0


sys.exit(main())
