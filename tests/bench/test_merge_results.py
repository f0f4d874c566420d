import json
import tempfile
import unittest
from datetime import datetime
from pathlib import Path

from merge_results import merge, text_of


class Merge(unittest.TestCase):
    def merged(self, files):
        with tempfile.TemporaryDirectory() as name:
            for file, text in files.items():
                (Path(name) / file).write_text(text)
            return json.loads(text_of(*merge(Path(name))))

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

    def test_nothing_is_a_file_too_and_what_was_cut_off_is_left_out(self):
        found = self.merged({"figures-a.json": '{"commit": "c", "figu'})
        self.assertEqual(found["figures"], [])
        self.assertEqual(found["steps"], {})


if __name__ == "__main__":
    unittest.main()
