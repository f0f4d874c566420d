"""merge_results.py FOLDER: one result file, on standard output, of what tests/gpu.sh has left in FOLDER.

figures-*.json are bench_kernels', peers.json is torch_peers.py's, and NAME.status says in words how the
step NAME went. Any of them may be missing.
"""

import json
import sys
from pathlib import Path


def main():
    folder = Path(sys.argv[1])
    result = {}
    figures = []
    for path in sorted(folder.glob("figures-*.json")):
        measured = json.loads(path.read_text())
        figures += measured.pop("figures")
        result |= measured  # the commit, the device and its driver: the same in all
    result["steps"] = {path.stem: path.read_text().strip() for path in sorted(folder.glob("*.status"))}
    peers = folder / "peers.json"
    measured = json.loads(peers.read_text()) if peers.exists() else {"peers": []}
    result |= {key: value for key, value in measured.items() if key != "peers"}
    print(json.dumps(result, indent=1)[:-2] + ",")
    for key, rows in (("peers", measured["peers"]), ("figures", figures)):
        print(f' "{key}": [')  # a row a line, so that results can be compared by eye
        print(",\n".join("  " + json.dumps(row) for row in rows))
        print(" ]" + ("," if key == "peers" else ""))
    print("}")


if __name__ == "__main__":
    main()
