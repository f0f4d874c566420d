"""Computes one model of transformers for the program, which starts `python -m fovea.worker MODEL`.

MODEL is a folder, or a .gguf file. Messages go over a socket, or over standard input and output (see hosting.py); the
worker ends when its input ends. Nothing is downloaded and nothing is unpickled. Code that comes with a model does not run, unless
--trust-remote-code is given.
"""
from __future__ import annotations

import argparse
import glob
import os
import sys
from typing import Any, List, Optional

from .errors import FoveaError
from .hosting import host, words_of
from .message import Channel
from .hosted import HostedModel

OLDEST = (4, 57)  # transformers
WIDENED = 2  # of weights of 16 bits that are computed in 32


def load(path: str, trust_remote_code: bool = False, name: str = "") -> HostedModel:
    """Raises FoveaError, which says what to install or do."""
    torch = _package("torch")
    transformers = _package("transformers")
    version = transformers.__version__
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise FoveaError(f"transformers {version} is too old; expected {'.'.join(map(str, OLDEST))} or later: "
                         f"{sys.executable} -m pip install --upgrade transformers")
    gguf = path.endswith(".gguf")
    for name in ("gguf", "accelerate") if gguf else ():
        _package(name)
    folder = os.path.dirname(path) or "." if gguf else path
    options = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    if gguf:
        options["gguf_file"] = os.path.basename(path)
    _check_weights(path, gguf)
    transformers.utils.logging.disable_progress_bar()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **options)
        kind = transformers.AutoModelForCausalLM if gguf else _class_of(transformers, config, trust_remote_code)
        weights = {} if gguf else {"use_safetensors": True}
        dtype = "auto" if device == "cuda" else torch.float32
        model = kind.from_pretrained(folder, dtype=dtype, **weights, **options).eval().to(device)
    except FoveaError:
        raise
    except Exception as error:
        raise FoveaError(_why(error, path, version)) from error
    tokenizer = _made(transformers.AutoTokenizer, folder, options)
    processor = _made(transformers.AutoImageProcessor, folder, options) if not gguf else None
    if isinstance(tokenizer, Exception) and (processor is None or isinstance(processor, Exception)):
        raise FoveaError(f"{path} has neither a tokenizer nor an image processor that transformers {version} reads "
                         f"({words_of(tokenizer)}); expected the files beside the weights, such as tokenizer.json") \
            from tokenizer
    return HostedModel(model, _or_none(tokenizer), _or_none(processor), name)


def _class_of(transformers: Any, config: Any, trust_remote_code: bool) -> Any:
    """The class of the whole model, with its head, where the library has it."""
    for architecture in getattr(config, "architectures", None) or []:
        found = getattr(transformers, architecture, None)
        if found is not None:
            return found
    if trust_remote_code and "AutoModelForCausalLM" in getattr(config, "auto_map", {}):
        return transformers.AutoModelForCausalLM
    return transformers.AutoModel


def _made(kind: Any, folder: str, options: Any) -> Any:
    """What the class reads from the folder, or the error."""
    try:
        return kind.from_pretrained(folder, **options)
    except Exception as error:
        return error


def _or_none(made: Any) -> Any:
    return None if isinstance(made, Exception) else made


def _package(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except Exception as error:  # a package that is broken, too
        raise FoveaError(f"{sys.executable} has no working {name} ({words_of(error)}): {sys.executable} -m pip install "
                         f"{name}, or choose another Python with --python or FOVEA_PYTHON") from error


def _check_weights(path: str, gguf: bool) -> None:
    """Refuses weights that would have to be unpickled, and those that do not fit into memory."""
    files = [path] if gguf else glob.glob(os.path.join(glob.escape(path), "*.safetensors"))
    if not files:
        pickled = glob.glob(os.path.join(glob.escape(path), "*.bin")) + glob.glob(os.path.join(glob.escape(path), "*.pt*"))
        if pickled:
            raise FoveaError(f"{path} has its weights in {os.path.basename(pickled[0])}, a pickle, which may run code of "
                             "its author: it is not read. Expected model.safetensors; where you trust the file, "
                             "model.save_pretrained(FOLDER) of transformers writes one")
        raise FoveaError(f"{path} has no weights; expected model.safetensors, or its shards")
    bytes_of_weights = sum(os.path.getsize(file) for file in files)
    needed, free = WIDENED * bytes_of_weights, _free_memory()
    if free is not None and needed > free:
        raise FoveaError(f"{path} needs some {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free; close "
                         "other programs, or choose a smaller model")


def _free_memory() -> Optional[int]:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _why(error: Exception, path: str, version: str) -> str:
    words = words_of(error)
    if "trust_remote_code" in words:
        return (f"{path} comes with code of its own, which does not run unless you trust it: --trust-remote-code, or the "
                "switch in Open model…")
    if "does not recognize this architecture" in words or "not supported yet" in words:
        return (f"{path}: transformers {version} does not know this architecture: {sys.executable} -m pip install "
                f"--upgrade transformers ({words.splitlines()[0]})")
    return f"{path} cannot be loaded by transformers {version}: {words}"


def channel_of(descriptor: Optional[int]) -> Channel:
    """A channel over a socket that this process was started with, or over standard input and output.

    Of these, whatever else is printed goes to standard error.
    """
    if descriptor is not None:
        return Channel(os.fdopen(descriptor, "rb", closefd=False), os.fdopen(os.dup(descriptor), "wb"))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return Channel(sys.stdin.buffer, out)


def main(words: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fovea.worker", description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL", help="a folder, or a .gguf file")
    parser.add_argument("--name", default="", help="of the model in titles")
    parser.add_argument("--threads", type=int, default=0, help="of PyTorch; 0: as many as there are")
    parser.add_argument("--trust-remote-code", action="store_true", help="code that comes with the model may run")
    parser.add_argument("--channel", type=int, help="the descriptor of a socket; else standard input and output")
    options = parser.parse_args(words)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ[name] = "1"
    channel = channel_of(options.channel)
    try:
        model = load(options.model, options.trust_remote_code, options.name)
        if options.threads > 0:
            _package("torch").set_num_threads(options.threads)
    except Exception as error:
        channel.send({"error": words_of(error)})
        return 1
    host(channel, model, gone=lambda: os._exit(0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
