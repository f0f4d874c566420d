"""The program that is tried, one command at a time."""
import json
import os
import subprocess

import compared


MODES = ("--measures", "--triage")  # that print other documents


class Refused(Exception):
    """The program says why it does not compute this."""


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, *words):
        """What it prints. Raises Refused for what it will not do, AssertionError for anything else that went wrong."""
        self.words = ["fovea", *map(str, words)]
        threads = [] if words[0] in ("sweep", "variants") else ["--threads", "1"]  # a plan states them
        done = subprocess.run([self.path, *map(str, words), *threads], capture_output=True, text=True, cwd=self.folder,
                              env=dict(os.environ, QT_QPA_PLATFORM="offscreen"))
        if done.returncode in (2, 4):
            raise Refused(done.stderr.strip())
        assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr.strip()}"
        return done.stdout

    def json(self, *words):
        mode = next((word for word in words if word in MODES), None)
        command = f"{words[0]} {mode}" if mode else words[0]
        document = compared.Document(command, json.loads(self.call(*words, "--json")))
        compared.seen(document)
        return document
