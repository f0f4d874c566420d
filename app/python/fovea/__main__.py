"""Opens the window of Fovea on a model that reads a text or an image: python -m fovea MODEL "a sentence"."""
from __future__ import annotations

import argparse
import os
import sys
from typing import List, Optional

from .errors import FoveaError
from .program import program


def main(words: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fovea", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="a folder, a name in the cache of Hugging Face, a .gguf file, "
                        "or bundled:text or bundled:image; or any other SOURCE of the program")
    parser.add_argument("text", nargs="?", help="what the model reads")
    parser.add_argument("--input", metavar="FILE", help="a file that the model reads: a text, or an image")
    parser.add_argument("--decoder-text", metavar="TEXT",
                        help="a text for the decoder beside an encoder, in place of what the model writes")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="at most this many tokens of the text")
    options = parser.parse_args(words)
    rest = [part for name, value in (("--text", options.text), ("--input", options.input),
                                     ("--decoder-text", options.decoder_text), ("--max-tokens", options.max_tokens))
            if value is not None
            for part in (name, str(value))]
    try:
        start = [*program(), options.model, *rest]
    except FoveaError as error:
        print(f"fovea: {error}", file=sys.stderr)
        return 1
    # This Python computes what the program does not compute itself.
    os.environ["FOVEA_PYTHON"] = sys.executable
    sys.stdout.flush()
    try:
        os.execvp(start[0], start)
    except OSError as error:
        print(f"fovea: {start[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
