"""Stands in for `python -m fovea.worker`: fake_worker.py -c PROGRAM PACKAGE MODEL OPTIONS. MODEL's name says how it
behaves.
"""
import os
import pathlib
import sys
import time

sys.path[:0] = [sys.argv[3], str(pathlib.Path(__file__).resolve().parents[1] / "python")]
import numpy  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from fovea.hosting import host  # noqa: E402
from fovea.worker import channel_of  # noqa: E402


def layer(number, tokens=3):
    return {f"layer{number}.{name}": numpy.ones((2, tokens, 4), numpy.float32) for name in "qkv"}


# What it sends about a request, in place of a model's answer: contents, which get the id of the request if they have
# none, and tensors.
END = ({"parts": 1}, {})
SCRIPTS = {
    "says a layer twice": [({"part": 0}, layer(0)), ({"part": 1}, layer(0)), ({"parts": 2}, {})],
    "says layers out of order": [({"part": 1}, layer(1)), END],
    "says a part twice": [({"part": 0}, layer(0)), ({"part": 0}, layer(1)), ({"parts": 2}, {})],
    "leaves a layer out": [({"part": 0}, layer(0)), ({"parts": 2}, {})],
    "forgets its layers": [({"part": 0}, layer(0)), ({}, layer(1))],
    "says no layer": [({"part": 0}, {}), END],
    "says half a layer": [({"part": 0}, {"layer0.q": numpy.ones((2, 3, 4), numpy.float32)}), END],
    "invents a tensor": [({"part": 0, "same": {"layer0.bias": "layer7.bias"}}, layer(0)), END],
    "names no tensor": [({"part": 0, "same": ["layer0.bias"]}, layer(0)), END],
    "counts without end": [({"part": 0, "of": -3}, layer(0)), ({"part": 1, "of": "many"}, layer(1)),
                           ({"parts": 2}, {})],
    "speaks of another request": [({"id": 99, "part": 0}, layer(5)), ({"part": 0}, layer(0)),
                                  ({"id": "1", "part": 1}, layer(6)), END],
    "speaks after the end": [({"part": 0}, layer(0)), END, ({"part": 1}, layer(1)), ({"parts": 2}, {})],
    "shares a bias": [({"part": 0}, {**layer(0), "layer0.bias": numpy.eye(3, dtype=numpy.float32)}),
                      ({"part": 1, "same": {"layer1.bias": "layer0.bias"}}, layer(1)), ({"parts": 2}, {})],
    "knows no parts": [({"reached": 0.5}, {}), ({"notes": ["a note"]}, {**layer(0), **layer(1)})],
    "gives too much": [*(({"part": part}, layer(part, 30000)) for part in range(40)), ({"parts": 40}, {})],
}


def play(script):
    channel.send({"hello": "fovea model", "version": 1, "model": {"reads": ["text"]}})
    while True:
        message = channel.receive()
        if message is None:
            return
        if message.content.get("do") == "heads":
            for content, tensors in script:
                channel.send({"id": message.content["id"], **content}, tensors)


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
elif behaviour in SCRIPTS:
    play(SCRIPTS[behaviour])
else:
    print("printed on standard output")
    host(channel, FakeModel(behaviour, sys.argv[4]), gone=lambda: os._exit(0))
