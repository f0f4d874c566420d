"""A model in plain NumPy that a worker hosts: so the protocol is tried where PyTorch is not installed.

Each word of a text is a token, and all numbers follow from the words. The name of the model says how it misbehaves.
"""
import json
import os
import signal
import sys
import threading
import time

from fovea.errors import FoveaError
from fovea.reading import Heads
from fovea.recording import Part

LAYERS, HEADS, WIDTH = 3, 2, 4
STEPS = 200  # of a forward pass, between which it can be cancelled


class FakeModel:
    def __init__(self, behaviour="", folder=""):
        self.behaviour = behaviour
        self.folder = folder  # in which the files go1 and go2 let a model that "waits" go on

    def description(self):
        return {"name": "fake", "architecture": "FakeModel", "reads": ["text", "image"], "layers": LAYERS,
                "heads": HEADS, "most_tokens": None, "computed_by": "NumPy"}

    def expected_layers(self, request):
        return LAYERS if request.layers is None else len(request.layers)

    def heads(self, request):
        import numpy

        if self.behaviour == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.behaviour == "fails":
            raise OSError("CUDA_HOME environment variable is not set")
        if self.behaviour == "retires":
            threading.Timer(0.05, os._exit, [3]).start()
        if self.behaviour == "leaves":
            print("the last words\nof this process", file=sys.stderr)
            os._exit(3)
        if request.picture is not None:
            rows, columns = (side // 2 for side in request.picture.shape[:2])
            n, metadata = 1 + rows * columns, {"image": json.dumps({"grid": [rows, columns], "prefix": 1})}
        else:
            words = request.text.split()[: request.max_tokens]
            if not words:
                raise FoveaError("the text has no token; expected at least one word")
            n, metadata = len(words), {"tokens": json.dumps(words)}
        for step in range(STEPS):
            request.reached(step / STEPS)
            if self.behaviour == "slow":
                time.sleep(0.005)
        said = {"layout": "[H,n,d]", "scale": "0.5", "causal": "true", **metadata}
        picture = {} if request.picture is None else {"picture": request.picture}
        arrays, given = dict(picture), False
        decoded = len((request.decoder_text or "").split())
        for layer in (1, 0, 2) if self.behaviour == "turns" else range(LAYERS):
            made = {}
            for at, name in enumerate("qkv"):
                numbers = numpy.arange(HEADS * n * WIDTH, dtype=numpy.float32) / (n * WIDTH)
                kind = ("cross.", "decoder.", "encoder.")[layer] if self.behaviour == "decodes" else ""
                made[f"{kind}layer{layer}.{name}"] = numbers.reshape(HEADS, n, WIDTH) + layer + at + decoded
            arrays.update(made)
            if request.give is None:
                continue
            if layer == 1:
                self.misbehave(request)
            waits = layer > {"waits": 0, "turns": 1}.get(self.behaviour, LAYERS)
            while waits and not os.path.exists(f"{self.folder}/go{layer}"):
                request.reached(0.5)
                time.sleep(0.005)
            request.give(Part({**picture, **made}, {} if given else said, {}))
            given = True
            picture = {}
        return Heads({} if request.give else arrays, said, ["a note"])

    def misbehave(self, request):
        """After the first of the layers that are given one by one."""
        if self.behaviour == "falls":
            print("the last words", file=sys.stderr)
            os._exit(3)
        if self.behaviour == "fails later":
            raise FoveaError("no memory for layer1")
        while self.behaviour == "stops":
            request.reached(0.5)
            time.sleep(0.005)

    def effect(self, request, content):
        """Says what was asked for, in place of numbers."""
        words = request.text.split()[: request.max_tokens]
        asked = {"text": request.text, "max_tokens": request.max_tokens, "parts": content["parts"],
                 "rows": content["rows"]}
        return {"tokens": len(words), "labels": words, "notes": [json.dumps(asked)]}, {}

    def effect_time(self, request, content):
        return {"exact_seconds": float(len(request.text.split()[: request.max_tokens])),
                "seconds": float(sum(part["seed"] for part in content["parts"])), "attention_seconds": 0.5}
