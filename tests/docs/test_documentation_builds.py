"""The documentation builds without a warning, needs no network, and all its files exist."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import locale
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import matplotlib as mpl
import pytest

from perceptron_lab.core import registry
from tests.repetitions import repeated

ROOT = Path(__file__).parents[2]
README_OF_DATA = ROOT / "data" / "README.md"
TOOLS = ("latex2mathml", "sphinx", "pydata_sphinx_theme", "sphinx_gallery", "myst_parser")
MISSING = [name for name in TOOLS if importlib.util.find_spec(name) is None]
# What a browser loads by itself, and with it pictures and scripts of others
LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
# Their tags; of scripts and frames also the ends, up to which a parser reads no tag
TAG = re.compile(rf"""</?(?:{"|".join(LOADED)}|a)\b(?:"[^"]*"|'[^']*'|[^'">])*>""", re.IGNORECASE)


class Loads(HTMLParser):
    """The addresses that a browser loads of a page, and those that it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.feed("".join(TAG.findall(text)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(LOADED.get(tag, ""))
        if address:
            self.loaded.append(address)
        if tag == "a" and values.get("href"):
            self.linked.append(values["href"] or "")


def outside(address: str) -> bool:
    """Whether an address is of another host."""
    return bool(urlsplit(address).netloc)


def pages_below(folder: Path) -> dict[Path, Loads]:
    """Return the addresses of each page of a folder."""
    return {page: Loads(page.read_text(encoding="utf-8")) for page in folder.rglob("*.html")}


def absent(pages: Path, addresses: Mapping[Path, Loads]) -> Iterator[str]:
    """Yield each page and the local file that it names and that is not there.

    The theme keeps a template among its static files, which is no page.
    """
    for page, loads in addresses.items():
        if "_static" in page.relative_to(pages).parts:
            continue
        for address in (*loads.loaded, *loads.linked):
            parts = urlsplit(address)
            local = not parts.scheme and not parts.netloc and parts.path
            if local and not (page.parent / unquote(parts.path)).exists():
                yield f"{page.name}: {address}"


def test_resources_loaded_by_a_page_are_detected() -> None:
    text = '<link href="//x.org/a.css"><img src="a.png"><a href="https://x.org">x</a>'
    loads = Loads(text + '<script src="https://y.org/b.js"></script>')
    assert [address for address in loads.loaded if outside(address)] == [
        "//x.org/a.css",
        "https://y.org/b.js",
    ]
    assert loads.linked == ["https://x.org"]


def test_a_missing_file_is_detected(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<a href="other.html#x">o</a><img src="page.html">')
    assert list(absent(tmp_path, pages_below(tmp_path))) == ["page.html: other.html#x"]


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not installed: `make docs` does")
@pytest.mark.parametrize(
    "pictured", repeated([pytest.param(("perceptron", "mirror-prox")), pytest.param(())], kept=1)
)
def test_the_pages_build_without_a_warning(tmp_path: Path, pictured: tuple[str, ...]) -> None:
    """Without running the gallery, which `make docs` does; at first with few pictures of runs."""
    for name in ("checker", "configs", "perceptron_lab", "results", "scripts", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    generated = ("_build", "gallery", "generated")
    sources = [path for path in (ROOT / "docs").rglob("*") if path.is_file()]
    sources = [path for path in sources if path.relative_to(ROOT).parts[1] not in generated]
    for path in [*sources, *(path for path in ROOT.iterdir() if path.is_file()), README_OF_DATA]:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    words = ["-W", "--keep-going", "-q", "-D", "sphinx_gallery_conf.plot_gallery=0"]
    words += ["-D", f"pictured_algorithms={' '.join(pictured)}", "docs", "built"]
    code, errors = sphinx_build(words, tmp_path)
    assert code == 0, errors[-3000:]
    built = tmp_path / "built"
    check_algorithms(tmp_path / "docs" / "generated" / "algorithms", built, pictured)
    addresses = pages_below(built)
    loaded = [(path.name, address) for path in addresses for address in addresses[path].loaded]
    assert [pair for pair in loaded if outside(pair[1])] == []
    assert list(absent(built, addresses)) == []


def check_algorithms(sources: Path, built: Path, pictured: tuple[str, ...]) -> None:
    """Assert that every algorithm has its page, with step, guarantee, an honest run and picture."""
    names = registry.names("algorithm")
    assert {path.stem for path in (sources / "pictures").glob("*.svg")} >= set(pictured)
    pages = {path.stem for path in (built / "generated" / "algorithms").glob("*.html")}
    assert pages == {path.stem for path in sources.glob("*.rst")} == {"index", *names}
    for name in names:
        text = (sources / f"{name}.rst").read_text(encoding="utf-8")
        assert all(f"\n{part}\n---" in text for part in ("The step, as it runs", "Guarantee"))
        # A relaxed algorithm may end before its first point: its margin bound is proved instead.
        statuses = "FEASIBLE|MARGIN_BOUNDED" if name == "relaxed-perceptron" else "FEASIBLE"
        match = re.search(rf"({statuses}) \(proved\)\n|is not (on PATH|installed)", text)
        assert match is not None, name
        drawn = f"pictures/{name}.svg" in text
        assert drawn == (sources / "pictures" / f"{name}.svg").is_file()


def sphinx_build(words: list[str], folder: Path) -> tuple[int, str]:
    """Run ``sphinx-build`` in a folder and return its exit code and what it says.

    In this process, which has imported most of what the pages are made of. Warnings of Python are
    none of the pages.
    """
    from sphinx.cmd.build import build_main

    errors = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(),
        mpl.rc_context(),
        pytest.MonkeyPatch.context() as patch,
    ):
        warnings.simplefilter("ignore")
        patch.setattr(sys, "path", [*sys.path])  # conf.py adds to it
        patch.setattr(locale, "setlocale", lambda *_: "C")
        return build_main(words), errors.getvalue()
