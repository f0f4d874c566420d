import json
import tempfile
import unittest
from datetime import datetime
from pathlib import Path

from merge_results import merge, text_of


class Merge(unittest.TestCase):
    def merged(self, files, *earlier):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, text in files.items():
                (folder / file).write_text(text)
            for i, found in enumerate(earlier):
                (folder / f"earlier-{i}").write_text(json.dumps(found))
            return json.loads(text_of(*merge(folder, sorted(folder.glob("earlier-*")))))

    def test_figures_peers_and_steps_are_one_file(self):
        found = self.merged(
            {
                "figures-a.json": '{"commit": "c", "device": "D", "figures": [{"what": 1}], '
                '"refused": [{"reason": "r"}]}',
                "figures-b-2.json": '{"commit": "c", "driver": "1.2", "figures": [{"what": 2}, {"what": 3}]}',
                "peers-x.json": '{"torch": "t", "peers": [{"what": "flash"}], "refused_peers": [{"reason": "none"}]}',
                "laws.status": "passed in 3 s\n",
            }
        )
        self.assertEqual([(row["step"], row["what"]) for row in found["figures"]], [("a", 1), ("b-2", 2), ("b-2", 3)])
        self.assertEqual(found["peers"], [{"step": "x", "what": "flash"}])
        self.assertEqual(found["refused_peers"], [{"step": "x", "reason": "none"}])
        self.assertEqual(found["refused"], [{"step": "a", "reason": "r"}])
        self.assertEqual((found["commit"], found["device"], found["driver"], found["torch"]), ("c", "D", "1.2", "t"))
        self.assertEqual(found["steps"], {"laws": "passed in 3 s"})

    def test_the_load_is_that_of_each_step_while_the_device_is_busy(self):
        begin = datetime(2026, 11, 28, 12, 0, 0).timestamp()
        at = "2026/11/28 12:00:0"
        found = self.merged(
            {
                "limits.csv": "1980, 2619, 700.00\n",
                "times.csv": f"a,{begin},{begin + 3}\nshort,{begin + 3},{begin + 3.5}\nb,{begin + 5},{begin + 7}\n",
                "load.csv": f"{at}0.500, 345, 2619, 90.00, 30, 0, 0x0000000000000001\n"
                f"{at}1.000, 1980, 2619, 600.00, 40, 99, 0x0000000000000000\n"
                f"{at}1.200, 1500, 2619, 700.00, 60, 100, 0x0000000000000004\n"
                f"{at}6.000, 1980, 2619, [N/A], 40, 0, 0x0000000000000000\n"
                f"{at}6.200, 19",
            }
        )
        self.assertEqual(found["limits"], {"sm_mhz": 1980, "memory_mhz": 2619, "power_w": 700})
        a, b = found["load"]
        self.assertEqual((a["step"], a["samples"], a["busy"]), ("a", 3, 2))
        self.assertEqual(a["sm_mhz"], {"median": 1740, "least": 1500, "most": 1980})
        self.assertEqual(a["slowed_by"], {"0x0000000000000000": 0.5, "0x0000000000000004": 0.5})
        self.assertEqual((b["step"], b["samples"], b["busy"], "power_w" in b), ("b", 1, 0, False))

    def test_cases_ablation_and_the_program_are_rows(self):
        found = self.merged(
            {
                "cases-laws.tsv": "0\t1\t1500e-3\tlaw: a, b\n1\t1\t20e-3\tlaw: c\n139\t0\t1e-3\tlaw: d\n",
                "cases-laws.names": "law: a, b\nlaw: c\nlaw: d\nlaw: e\n",
                "ablation-ablation_x.jsonl": '{"ms": 2.5}\nout of memory\n3\n',
                "program-exact.status": "passed in 1 s\n",
                "program-exact.log": "\n".join(str(line) for line in range(40)),
            }
        )
        laws = found["cases"][0]
        self.assertEqual((laws["step"], laws["cases"], laws["ran"], laws["seconds"]), ("laws", 4, 2, 1.5))
        self.assertEqual(laws["not_ended"], ["law: e"])
        self.assertEqual(laws["failed"], ["law: c: status 1", "law: d: status 139"])
        self.assertEqual(laws["slowest"]["law: a, b"], 1.5)
        self.assertEqual(
            found["ablation"],
            [
                {"program": "ablation_x", "ms": 2.5},
                {"program": "ablation_x", "text": "out of memory"},
                {"program": "ablation_x", "text": "3"},
            ],
        )
        said = found["program"][0]
        self.assertEqual((said["step"], said["status"], said["said"][-1]), ("program-exact", "passed in 1 s", "39"))
        self.assertEqual(len(said["said"]), 12)

    def test_a_failed_step_has_its_last_line(self):
        found = self.merged(
            {
                "races.status": "failed (99) after 2 s\n",
                "races.log": "here\n========= ERROR SUMMARY: 3 errors\n",
                "laws.status": "passed in 1 s\n",
                "laws.log": "all\n",
                "barriers.status": "failed: needs build-tests\n",
                "maps.status": "failed (1) after 0 s\n",
            }
        )
        self.assertEqual(
            found["steps"],
            {
                "races": "failed (99) after 2 s: ERROR SUMMARY: 3 errors",
                "laws": "passed in 1 s",
                "barriers": "failed: needs build-tests",
                "maps": "failed (1) after 0 s",
            },
        )

    def test_what_only_an_earlier_result_has_names_its_commit(self):
        found = self.merged(
            {
                "figures-a.json": '{"commit": "new", "figures": [{"what": "exact", "n": 1, "ms": 1}]}',
                "ablation-x.jsonl": '{"ms": 1}\n',
                "cases-laws.tsv": "0\t1\t1e-3\tlaw\n",
                "laws.status": "passed in 1 s\n",
            },
            {
                "commit": "old",
                "steps": {"laws": "failed (1) after 2 s", "maps": "passed in 3 s"},
                "figures": [{"what": "exact", "n": 1, "ms": 2}, {"what": "exact", "n": 2, "ms": 3}],
                "ablation": [{"program": "x", "ms": 2}, {"program": "y", "ms": 3}, {"program": "y", "ms": 4}],
                "cases": [{"step": "laws", "ran": 7}, {"step": "laws-mma", "ran": 8}],
            },
            {
                "commit": "oldest",
                "steps": {"maps": "passed in 9 s", "memory": "passed of commit first"},
                "figures": [{"what": "exact", "n": 2, "ms": 9}, {"what": "h1d", "n": 2, "commit": "first"}],
            },
        )
        self.assertEqual(found["commit"], "new")
        self.assertEqual(
            found["steps"],
            {"laws": "passed in 1 s", "maps": "passed in 3 s of commit old", "memory": "passed of commit first"},
        )
        self.assertEqual([(row.get("commit"), row["n"], row.get("ms")) for row in found["figures"]],
                         [(None, 1, 1), ("old", 2, 3), ("first", 2, None)])  # fmt: skip
        self.assertEqual([(row.get("commit"), row["program"], row["ms"]) for row in found["ablation"]],
                         [(None, "x", 1), ("old", "y", 3), ("old", "y", 4)])  # fmt: skip
        self.assertEqual([(row.get("commit"), row["ran"]) for row in found["cases"]], [(None, 1), ("old", 8)])

    def test_nothing_is_a_file_too_and_what_was_cut_off_is_left_out(self):
        found = self.merged({"figures-a.json": '{"commit": "c", "figu'})
        self.assertEqual(found["figures"], [])
        self.assertEqual(found["steps"], {})


if __name__ == "__main__":
    unittest.main()
