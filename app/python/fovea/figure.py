"""Figures for notebooks and papers, drawn by the program `fovea`."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union
from xml.etree import ElementTree

from .atomic_file import AtomicFile
from .errors import FoveaError
from .program import program, run
from .save import save

FORMATS = ("png", "svg", "pdf")


class Figure:
    """A figure that is drawn already. A notebook shows it; `save` writes it to a file."""

    def __init__(self, content: bytes, format: str, notes: str = "") -> None:
        self.content = content
        self.format = format
        self.notes = notes  # what the program said beside it

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the figure as it is. Raises FoveaError if the ending asks for another format."""
        ending = os.path.splitext(os.fspath(path))[1].lstrip(".").lower()
        if ending != self.format:
            raise FoveaError(f"the figure is {self.format}; make it with format=\"{ending or self.format}\"")
        with AtomicFile(path) as whole:
            whole.file.write(self.content)

    def _repr_png_(self) -> Optional[bytes]:
        return self.content if self.format == "png" else None

    def _repr_svg_(self) -> Optional[str]:
        return self.content.decode("utf-8") if self.format == "svg" else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        if self.format == "pdf":
            return {"application/pdf": self.content, "text/plain": repr(self)}
        shown = self._repr_png_() if self.format == "png" else self._repr_svg_()
        return {"image/png" if self.format == "png" else "image/svg+xml": shown, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<fovea.Figure, {self.format}, {len(self.content)} bytes>"


def figure(source_or_q: Any, k: Any = None, v: Any = None, *, variants: Sequence[str] = ("exact",),
           views: Sequence[str] = ("heatmap",), format: str = "png", layer: Union[int, str] = 0, head: int = 0,
           width: Optional[str] = None, height: Optional[str] = None, dpi: Optional[int] = None,
           title: Optional[str] = None, parameters: Optional[Mapping[str, Any]] = None,
           options: Sequence[str] = (), **conditions: Any) -> Figure:
    """Draws attention with `fovea render`, as PNG, SVG or PDF.

    `source_or_q` is a file, or any other SOURCE of the program; or the queries q, with k and, if known, v, as
    `fovea.save` takes them together with its other arguments (`tokens`, `causal`, `scale`, `mask`, ...). A figure of
    arrays carries this call in place of a session. `variants` and `views` are columns and rows. `parameters` are those
    of variants (--set), `options` more words of the command line. Sizes are such as "3.5in". The program is $FOVEA, or
    what the wheel carries, or `fovea` on the PATH, or what app/run.sh built in the sources of this package. Raises
    FoveaError if it is not there, or with its message if it refuses.
    """
    if format not in FORMATS:
        raise FoveaError(f"format is '{format}'; expected {', '.join(FORMATS)}")
    by_arrays = k is not None or v is not None
    if by_arrays and k is None:
        raise FoveaError("q needs k")
    if not by_arrays and conditions:
        raise FoveaError(f"{', '.join(sorted(conditions))}: of q, k and v only, not of a file")
    if not by_arrays and not isinstance(source_or_q, (str, os.PathLike)):
        raise FoveaError("expected a file, or q, k and v")
    command = program()
    with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
        source = os.fspath(source_or_q) if not by_arrays else os.path.join(folder, "heads.safetensors")
        if by_arrays:
            save(source, source_or_q, k, v, **conditions)
        output = os.path.join(folder, "figure." + format)
        words = [*command, "render", source, "-o", output, "--layer", str(layer), "--head", str(head)]
        words += _repeated("--variant", variants) + _repeated("--view", views)
        words += _repeated("--set", [f"{key}={value}" for key, value in (parameters or {}).items()])
        for name, value in (("--width", width), ("--height", height), ("--dpi", dpi), ("--title", title)):
            words += [] if value is None else [name, str(value)]
        if by_arrays and "--no-session" not in options:  # their file is gone when the figure is looked at
            words += ["--made-by", _call_of({"q": source_or_q, "k": k, "v": v}, {
                "variants": list(variants), "views": list(views), "parameters": parameters, "head": head or None,
                **conditions})]
        notes = run([*words, *options])
        try:
            with open(output, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            raise FoveaError(f"{' '.join(command)} wrote no figure: $FOVEA must name the program fovea") from None
    if format == "svg" and not _runs_nothing(content):
        raise FoveaError("the figure is no well-formed SVG, or holds a script: a name in the source or the title may "
                         "have brought it; draw it with format=\"png\"")
    return Figure(content, format, notes)


def _runs_nothing(svg: bytes) -> bool:
    """Whether it is well-formed and has no script: notebooks may insert it into their page as it is."""
    try:
        elements = list(ElementTree.fromstring(svg).iter())
    except ElementTree.ParseError:
        return False
    names = {str(element.tag).rpartition("}")[2].lower() for element in elements}
    attributes = [(name.rpartition("}")[2].lower(), value.strip().lower())
                  for element in elements for name, value in element.attrib.items()]
    return not names & {"script", "foreignobject"} and not any(
        name.startswith("on") or value.startswith("javascript:") for name, value in attributes)


def _call_of(arrays: Dict[str, Any], more: Mapping[str, Any]) -> str:
    """The call in words, which the figure carries: its arrays are in no file."""
    given = ", ".join([name for name, array in arrays.items() if array is not None]
                      + [f"{name}={_word(name, value)}" for name, value in more.items() if value is not None])
    shapes = ", ".join(f"{name} {list(getattr(array, 'shape', ()))}" for name, array in arrays.items()
                       if array is not None)
    return f"fovea.figure({given})  # {shapes}"


def _word(name: str, value: Any) -> str:
    """A short value as it is written, an array or a list of tokens by its name."""
    text = repr(value)
    return name if hasattr(value, "shape") and value.shape or len(text) > 60 else text


def _repeated(option: str, values: Union[str, Sequence[str]]) -> List[str]:
    if isinstance(values, str):
        values = [values]
    return [word for value in values for word in (option, str(value))]
