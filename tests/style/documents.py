#!/usr/bin/env python3
"""Checks that the documents name what exists: files and headings that links lead to, and in ARCHITECTURE.md also the
files, classes and functions between backquotes.

    documents.py [--self-test]
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["app", "core", "kernels", "tests"]
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".py"}


def anchor(heading):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


def dead_links(document, text):
    for path, _, heading in re.findall(r"\]\(([^)#\s]*)(#([^)\s]*))?\)", text):
        if "://" in path:
            continue
        target = document.parent / path if path else document
        if not target.exists():
            yield f"link to {path}, which does not exist"
        elif heading and heading not in map(anchor, re.findall(r"^#+ (.*)$", target.read_text(), re.M)):
            yield f"link to the heading {heading}, which {target.name} does not have"


def unknown_names(text, words):
    for name in sorted(set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)))):
        if re.fullmatch(r"[\w./-]+/[\w./-]*", name):
            if not any((ROOT / room / name).exists() for room in ["", *ROOMS]):
                yield f"`{name}` is no file or folder"
        elif re.fullmatch(r"[\w:.]+(\(\))?", name):
            if not words.issuperset(re.findall(r"\w+", name)):
                yield f"`{name}` is in no source"


def words_of_sources():
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*") if file.suffix in SOURCES]
    text = " ".join([*(file.name for file in files), *(file.read_text(errors="replace") for file in files)])
    return set(re.findall(r"\w+", text))


def documents():
    return [*ROOT.glob("*.md"), *(file for room in [*ROOMS, "assets"] for file in (ROOT / room).rglob("*.md"))]


def main():
    words = words_of_sources()
    if "--self-test" in sys.argv:
        text = "[a](no_such_file.md) [b](README.md#no-such-heading) `core/no_such_folder/` `NoSuch" "Class` `Engine`"
        found = [*dead_links(ROOT / "ARCHITECTURE.md", text), *unknown_names(text, words)]
        sys.exit(f"expected 4 mistakes, found {found}" if len(found) != 4 else 0)
    mistakes = [f"{document.relative_to(ROOT)}: {mistake}" for document in documents()
                for mistake in dead_links(document, document.read_text())]
    mistakes += [f"ARCHITECTURE.md: {mistake}"
                 for mistake in unknown_names((ROOT / "ARCHITECTURE.md").read_text(), words)]
    sys.exit("\n".join(mistakes) or 0)


if __name__ == "__main__":
    main()
