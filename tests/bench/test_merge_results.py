import json
import tempfile
import unittest
from pathlib import Path

from merge_results import merge, text_of


class Merge(unittest.TestCase):
    def merged(self, files):
        with tempfile.TemporaryDirectory() as name:
            for file, text in files.items():
                (Path(name) / file).write_text(text)
            return json.loads(text_of(*merge(Path(name))))

    def test_figures_peers_steps_and_clocks_are_one_file(self):
        found = self.merged(
            {
                "figures-a.json": '{"commit": "c", "device": "D", "figures": [{"what": 1}], '
                '"refused": [{"reason": "r"}]}',
                "figures-b.json": '{"commit": "c", "driver": "1.2", "figures": [{"what": 2}, {"what": 3}]}',
                "peers-x.json": '{"torch": "t", "peers": [{"what": "flash"}], "refused_peers": [{"reason": "none"}]}',
                "laws.status": "passed in 3 s\n",
                "clocks.csv": "a, before, 1980, 2619, 1980, 2619, 700.00, 41, 0x0\n",
            }
        )
        self.assertEqual([row["what"] for row in found["figures"]], [1, 2, 3])
        self.assertEqual(found["peers"], [{"what": "flash"}])
        self.assertEqual(found["refused_peers"], [{"reason": "none"}])
        self.assertEqual(found["refused"], [{"reason": "r"}])
        self.assertEqual((found["commit"], found["device"], found["driver"], found["torch"]), ("c", "D", "1.2", "t"))
        self.assertEqual(found["steps"], {"laws": "passed in 3 s"})
        clocks = found["clocks"][0]
        self.assertEqual((clocks["step"], clocks["when"], clocks["sm_mhz"]), ("a", "before", 1980))
        self.assertEqual((clocks["power_limit_w"], clocks["slowed_by"]), (700, "0x0"))

    def test_nothing_is_a_file_too_and_what_was_cut_off_is_left_out(self):
        found = self.merged({"figures-a.json": '{"commit": "c", "figu'})
        self.assertEqual(found["figures"], [])
        self.assertEqual(found["steps"], {})


if __name__ == "__main__":
    unittest.main()
