"""Stands in for `python -m fovea.worker`: fake_worker.py -c PROGRAM PACKAGE MODEL OPTIONS. MODEL's name says how it
behaves.
"""
import os
import pathlib
import sys
import time

sys.path[:0] = [sys.argv[3], str(pathlib.Path(__file__).resolve().parents[1] / "python")]
from fake_model import FakeModel  # noqa: E402
from fovea.hosting import host  # noqa: E402
from fovea.worker import channel_of  # noqa: E402

behaviour = pathlib.Path(sys.argv[4]).stem
print("whatever a library prints")  # goes elsewhere than messages
descriptor = int(sys.argv[sys.argv.index("--channel") + 1])
channel = channel_of(descriptor)
if behaviour == "refuses":
    channel.send({"error": "no working torch: pip install torch"})
elif behaviour == "old":
    channel.send({"hello": "fovea model", "version": 0, "model": {}})
elif behaviour == "babbles":
    os.write(descriptor, b"Traceback (most recent call last):\n" * 100)
    time.sleep(60)
elif behaviour == "mute":
    time.sleep(60)
else:
    print("printed on standard output")
    host(channel, FakeModel(behaviour), gone=lambda: os._exit(0))
