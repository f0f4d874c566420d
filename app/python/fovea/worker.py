"""Computes one model of transformers for the program, which starts `python -m fovea.worker MODEL`.

MODEL is a folder, or a .gguf file. Messages go over a socket, or over standard input and output (see hosting.py); the
worker ends when its input ends. Nothing is downloaded and nothing is unpickled. Code that comes with a model does not
run, unless --trust-remote-code is given.
"""
from __future__ import annotations

import argparse
import glob
import json
import math
import os
import select
import struct
import sys
import threading
from typing import Any, List, Optional

from .errors import FoveaError
from .hosting import host, words_of
from .message import Channel
from .reader import LONGEST_HEADER
from .hosted import HostedModel

OLDEST = (4, 57)  # transformers
IN_MEMORY = 4  # bytes of a weight, which is computed in float32


def load(path: str, trust_remote_code: bool = False, name: str = "") -> HostedModel:
    """Raises FoveaError, which says what to install or do."""
    torch = _package("torch")
    transformers = _package("transformers")
    version = transformers.__version__
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise FoveaError(f"transformers {version} is too old; expected {'.'.join(map(str, OLDEST))} or later: "
                         f"{sys.executable} -m pip install --upgrade transformers")
    gguf = path.endswith(".gguf")
    for package in ("gguf", "accelerate") if gguf else ():
        _package(package)
    folder = os.path.dirname(path) or "." if gguf else path
    options = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    if gguf:
        options["gguf_file"] = os.path.basename(path)
    transformers.utils.logging.disable_progress_bar()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    _check_weights(path, gguf, device == "cuda")
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


def _check_weights(path: str, gguf: bool, on_gpu: bool) -> None:
    """Refuses weights that would have to be unpickled, and those that do not fit into memory."""
    if not gguf and os.path.exists(os.path.join(path, "adapter_config.json")):
        raise FoveaError(f"{path} has an adapter_config.json, which names another model; expected a whole model: merge "
                         "the adapter into it (merge_and_unload of peft), or use fovea.look")
    files = [path] if gguf else glob.glob(os.path.join(glob.escape(path), "*.safetensors"))
    if not files:
        pickled = [name for kind in ("*.bin", "*.pt*") for name in glob.glob(os.path.join(glob.escape(path), kind))]
        if pickled:
            raise FoveaError(f"{path} has its weights in {os.path.basename(pickled[0])}, a pickle, which may run code "
                             "of its author: it is not read. Expected model.safetensors; where you trust the file, "
                             "model.save_pretrained(FOLDER) of transformers writes one")
        raise FoveaError(f"{path} has no weights; expected model.safetensors, or its shards")
    needed, free = _gguf_bytes(path) if gguf else _bytes_of(path, files), _free_memory()
    if not on_gpu and free is not None and needed > free:
        raise FoveaError(f"{path} needs some {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free; close "
                         "other programs, or choose a smaller model")


def _bytes_of(path: str, files: List[str]) -> int:
    """The weights in float32, of the files that the index names, else of model.safetensors, else of all."""
    whole, index = (os.path.join(path, name) for name in ("model.safetensors", "model.safetensors.index.json"))
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            names = set(json.load(file).get("weight_map", {}).values())
        files = [os.path.join(path, str(name)) for name in names]
    elif os.path.exists(whole):
        files = [whole]
    return sum(_elements(file) for file in files if os.path.exists(file)) * IN_MEMORY


def _elements(file: str) -> int:
    with open(file, "rb") as opened:
        (length,) = struct.unpack("<Q", opened.read(8).ljust(8, b"\0"))
        if length > LONGEST_HEADER:
            return 0  # damaged: loading it says how
        try:
            header = json.loads(opened.read(length))
            return sum(math.prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")
        except (ValueError, KeyError, TypeError, AttributeError):
            return 0


def _gguf_bytes(path: str) -> int:
    try:
        return sum(int(tensor.n_elements) for tensor in _package("gguf").GGUFReader(path).tensors) * IN_MEMORY
    except FoveaError:
        raise
    except Exception:
        return 0  # damaged: loading it says how


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
        return f"{path} comes with code of its own, which does not run unless you trust it: --trust-remote-code"
    if "does not recognize this architecture" in words or "not supported yet" in words:
        return (f"{path}: transformers {version} does not know this architecture: {sys.executable} -m pip install "
                f"--upgrade transformers ({words.splitlines()[0]})")
    return f"{path} cannot be loaded by transformers {version}: {words}"


def channel_of(descriptor: Optional[int]) -> Channel:
    """A channel over a socket that this process was started with, or over standard input and output.

    If standard output is the channel, whatever else is printed goes to standard error.
    """
    if descriptor is not None:
        threading.Thread(target=_end_with, args=(descriptor,), name="fovea end", daemon=True).start()
        return Channel(os.fdopen(descriptor, "rb", closefd=False), os.fdopen(os.dup(descriptor), "wb"))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return Channel(sys.stdin.buffer, out)


def _end_with(descriptor: int) -> None:
    """Ends this process as soon as the other one closes its end of the socket, even while a model is being loaded."""
    poll = select.poll()
    poll.register(descriptor, getattr(select, "POLLRDHUP", 0))
    while not poll.poll():
        pass
    os._exit(0)


def main(words: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fovea.worker", description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL", help="a folder, or a .gguf file")
    parser.add_argument("--name", default="", help="the model's name in titles")
    parser.add_argument("--trust-remote-code", action="store_true", help="code that comes with the model may run")
    parser.add_argument("--channel", type=int, help="the descriptor of a socket; else standard input and output")
    options = parser.parse_args(words)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ[name] = "1"
    # Logits of each pass are a large new array: huge pages spare PyTorch a fault for every 4 KiB of it.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    channel = channel_of(options.channel)
    try:
        model = load(options.model, options.trust_remote_code, options.name)
    except Exception as error:
        channel.send({"error": words_of(error)})
        return 1
    host(channel, model, gone=lambda: os._exit(0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
