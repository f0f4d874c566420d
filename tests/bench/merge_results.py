"""merge_results.py FIGURES PEERS TESTS CHECKER: one result file, on standard output.

FIGURES is bench_kernels' JSON; PEERS, torch_peers.py's, may be missing; TESTS and CHECKER say in words
how the tests and the memory checker went.
"""

import json
import os
import sys


def main():
    figures, peers, tests, checker = sys.argv[1:]
    with open(figures) as file:
        result = json.load(file)
    rows = result.pop("figures")
    result["tests"] = tests
    result["memory_checker"] = checker.strip("; ")
    result["peers"] = []
    if os.path.exists(peers):
        with open(peers) as file:
            measured = json.load(file)
        result["torch"] = measured["torch"]
        result["peers"] = measured["peers"]
    result["figures"] = rows
    head = {key: value for key, value in result.items() if key not in ("peers", "figures")}
    print(json.dumps(head, indent=1)[:-2] + ",")
    for key in ("peers", "figures"):  # a row a line, so that results can be compared by eye
        print(f' "{key}": [')
        print(",\n".join("  " + json.dumps(row) for row in result[key]))
        print(" ]" + ("," if key == "peers" else ""))
    print("}")


if __name__ == "__main__":
    main()
