"""fovea.look: windows ask a model in this process, and the program shows what it computes."""
import json
import os
import socket
import subprocess
import unittest
from unittest import mock

from package import PROGRAM, InFolder, needs

from fake_model import FakeModel
from fovea.errors import FoveaError
from fovea.look import Looking, look
from fovea.message import Channel


@needs("numpy")
class Look(InFolder):
    def setUp(self):
        super().setUp()
        changed = mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(self.folder)})
        changed.start()
        self.addCleanup(changed.stop)

    def looking(self, name="org/my model"):
        model = FakeModel()
        model.name = name
        looking = Looking(model)
        self.addCleanup(looking.close)
        return looking

    def socket_of(self, looking):
        return self.folder / "fovea" / f"look-{looking.name}.sock"

    def asked(self, looking, text):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(self.socket_of(looking)))
            with line.makefile("rb") as reader, line.makefile("wb") as writer:
                channel = Channel(reader, writer)
                self.assertEqual(channel.receive().content["hello"], "fovea model")
                channel.send({"id": 1, "do": "heads", "text": text})
                while True:
                    message = channel.receive()
                    if "reached" not in message.content:
                        return json.loads(message.tensors.metadata["tokens"])

    def test_windows_ask_one_after_the_other(self):
        looking = self.looking()
        self.assertEqual(self.asked(looking, "one two"), ["one", "two"])
        self.assertEqual(self.asked(looking, "three"), ["three"])

    def test_a_name_and_a_text_become_an_address(self):
        looking = self.looking()
        self.assertRegex(looking.address_of("a b%&?é"), r"^model:look:my-model\.\d+-[0-9a-f]{8}\?text=a%20b%25%26%3F%C3%A9$")
        self.assertIn("?input=" + os.path.abspath("a%b.png").replace("%", "%25"), looking.address_of("", "a%b.png"))

    def test_a_closed_model_is_gone(self):
        with self.looking() as looking:
            self.assertTrue(self.socket_of(looking).exists())
        self.assertFalse(self.socket_of(looking).exists())
        looking.close()  # a second time does nothing

    def test_a_forked_process_leaves_the_socket(self):
        looking = self.looking()
        child = os.fork()
        if child == 0:
            looking.close()
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(self.asked(looking, "still there"), ["still", "there"])

    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_the_program_shows_what_the_model_computes(self):
        with self.looking() as looking:
            address = looking.address_of("four words are here")
            command = [PROGRAM, "compute", address, "--variant", "exact", "--layer", "1", "--json"]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["n"], 4)
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("call fovea.look again", done.stderr)

    @needs("torch")
    def test_what_a_model_reads_is_needed(self):
        with self.assertRaisesRegex(FoveaError, "neither a tokenizer nor a processor"):
            look(object(), None)
        with self.assertRaisesRegex(FoveaError, "picture=PATH"):
            look(object(), object())


if __name__ == "__main__":
    unittest.main()
