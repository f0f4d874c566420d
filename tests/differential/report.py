"""The numbers that `fovea report` prints, against those of compute."""
import html
import os
import re

from compared import leaves, number

COLUMNS = {"relative output error": "output_rel_fro", "token error, 90 %": "row_rel_error.p90",
           "total variation, mean": "attention_tv.mean", "mass kept": "mass_kept",
           "multiply-adds / exact": "ratio_to_exact"}
NO_NUMBERS = ("attention", "memory", "time, total", "speed-up, total")  # words, bytes and times
DIGITS = 6e-4  # relative: four digits are printed


def cells(text):
    return [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", text, re.S)]


def rows(text, kind):
    """The tables of this class, as lists of cells."""
    tables = re.findall(rf'<table class="{kind}">(.*?)</table>', text, re.S)
    return [[cells(row) for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)] for table in tables]


def printed(text):
    """A number as people read it: 1.5, −0.2, 3.1×10⁻⁵, ∞; None where there is none."""
    if text == "–":
        return None
    superscript = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    plain = text.replace("−", "-").replace("∞", "inf").replace("·", "×").replace(" ", "").replace("\u202f", "")
    found = re.match(r"(-?[0-9.]+(?:e[-+]?\d+)?)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?$", plain)
    if plain in ("inf", "-inf"):
        return float(plain)
    assert found, f"“{text}” is no number that this test reads"
    return float(found[1]) * 10.0 ** int((found[2] or "0").translate(superscript))


def close(text, value):
    found, value = printed(text), number(value)
    if found is None or value is None:
        return found is None and value is None
    return found == value or abs(found - value) <= DIGITS * abs(value)


def check(program, layer, exact, computed):
    index = int(layer.draw.random.integers(layer.heads))
    program.call("report", *layer.source, *computed.words, "--head", index, "-o", "report.html")
    with open(os.path.join(program.folder, "report.html"), encoding="utf-8") as file:
        text = file.read()
    wrong = []
    (titles, *lines), = rows(text, "numbers")
    for line, of in zip(lines, [exact, computed][-len(lines):], strict=True):
        flat = dict(leaves(of.document["metrics"][index]))
        if layer.heads == 1:
            flat["ratio_to_exact"] = of.document["cost"]["ratio_to_exact"]
        for title, cell in zip(titles, line, strict=True):
            if title in COLUMNS:
                name = COLUMNS[title]
                if name in flat and not close(cell, flat[name]):
                    wrong.append(f"report: {title} of {line[0]} is {cell}; expected {flat[name]}")
            elif title not in NO_NUMBERS:
                wrong.append(f"report: no formula for the column {title}")
    # Its own numbers come in the order in which compute has them.
    own = [line[1] for table in rows(text, "facts") for line in table if line[0] == "Its own numbers"]
    if own:
        figures = dict(leaves(computed.document["metrics"][index]))
        figures.pop("from_own_output", None)  # is no figure of the variant
        figures = list(figures.items())
        names = [name for name, _ in figures]
        last = "density" if "density" in names else "row_rel_error.max"  # of z alone no weights are known
        figures = [figure for figure in figures[names.index(last) + 1 :] if figure[1] is not None]
        found = [part.rsplit(": ", 1)[1] for part in own[-1].split("; ")]
        found = [cell for cell in found if cell != "–"]
        if len(found) != len(figures):
            wrong.append(f"report: {len(found)} figures; expected {len(figures)}")
        for cell, (name, value) in zip(found, figures):
            if not close(cell, value):
                wrong.append(f"report: {name} is {cell}; expected {value}")
    return wrong
