"""Pages in headless Chromium: quiet, without requests, legible, sortable, filterable."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.experiments.storage import schema
from perceptron_lab.reporting.pages.writing import pages
from tests.repetitions import left_out, repeated
from tests.reporting.pages.browser import Browser

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[3] / "results" / "sample"
SHOWN = ("maxcut", "bundle_mirror" if left_out() else "infeasible")

# Contrast of WCAG 2.1 of each text with the ground that it stands on; figures are inverted by a
# filter in dark colours, which computed styles do not tell, so that theirs are not looked at.
FAINT = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((one) => one / 255)
      .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = new Set();
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("svg, script, style")) continue;
    if (!element.checkVisibility() || ++seen > 3000) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.add(`${element.tagName} ${contrast.toFixed(2)}`);
  }
  return [seen, [...faint]];
})()"""
# Elements that reach beyond the window, apart from those in a region that is scrolled.
WIDE = """(() => {
  const width = document.documentElement.clientWidth;
  return [...document.body.querySelectorAll("*")]
    .filter((one) => !one.closest(".scroll > *, pre, .skip, svg *"))
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > width + 1)
    .map((one) => one.outerHTML.slice(0, 80));
})()"""
# Widths decide what fits and colour schemes what is legible
VIEWS = (
    [*product((400, 1400), ("light", "dark"))]
    if not left_out()
    else [(400, "dark"), (1400, "light")]
)
OPENED = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
CELLS = "document.querySelector('table.cells')"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of two samples, and that of both."""
    folder = tmp_path_factory.mktemp("pages")
    for name in SHOWN:
        (folder / name).mkdir()
        shutil.copy(schema.path_of(SAMPLES / name), folder / name)
    pages(folder)
    return folder


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser.started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(started: Browser) -> Browser:
    """The browser, in which nothing has been said or asked for yet."""
    started.run("0")  # all messages before its answer are read
    started.said.clear()
    started.asked.clear()
    return started


@pytest.mark.parametrize(
    "name", repeated([*(f"{name}/index.html" for name in SHOWN), "index.html"], kept=1)
)
def test_a_page_loads_nothing_fits_and_is_legible(
    browser: Browser, results: Path, name: str
) -> None:
    page = results / name
    for width, scheme in VIEWS:
        browser.open(page, width, scheme)
        browser.run(OPENED)
        assert browser.run(WIDE) == [], (width, scheme)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        printed, faint = browser.run(FAINT)
        assert printed > 100
        assert faint == [], (width, scheme)
        dark = browser.run("matchMedia('(prefers-color-scheme: dark)').matches")
        assert dark == (scheme == "dark")
    assert browser.said == []
    requests = {request for request in browser.asked if not request.startswith("data:")}
    assert requests == {page.as_uri()}


def texts(browser: Browser, column: int) -> list[str]:
    """Return the cells of a column that are shown, from top to bottom."""
    lines = f"[...{CELLS}.tBodies[0].rows].filter((row) => !row.hidden)"
    printed: list[str] = browser.run(f"{lines}.map((row) => row.cells[{column}].textContent)")
    return printed


def heads(browser: Browser) -> list[str]:
    printed: list[str] = browser.run(
        f"[...{CELLS}.tHead.rows[0].cells].map((one) => one.textContent)"
    )
    return printed


def click(browser: Browser, column: int) -> Any:
    return browser.run(f"{CELLS}.tHead.rows[0].cells[{column}].querySelector('button').click()")


def test_lines_are_sorted_as_numbers_and_as_texts_and_back(browser: Browser, results: Path) -> None:
    browser.open(results / "maxcut" / "index.html", 1400)
    names = heads(browser)
    column, problem = names.index("queries"), names.index("problem")
    before = texts(browser, column)
    click(browser, column)
    assert texts(browser, column) == sorted(before, key=int) != sorted(before)
    head = f"{CELLS}.tHead.rows[0].cells[{column}]"
    assert browser.run(f"{head}.getAttribute('aria-sort')") == "ascending"
    click(browser, column)
    assert texts(browser, column) == sorted(before, key=int, reverse=True)
    click(browser, column)
    assert texts(browser, column) == before
    click(browser, problem)
    named = texts(browser, problem)
    assert named == sorted(named, key=str.lower)
    lower = names.index("margin lower")  # such as 2.7e-14
    click(browser, lower)
    assert texts(browser, lower) == sorted(texts(browser, lower), key=float)


def test_lines_are_filtered_by_words_and_choices_and_columns_are_selectable(
    browser: Browser, results: Path
) -> None:
    browser.open(results / "maxcut" / "index.html", 1400)
    names = heads(browser)
    tools = f"{CELLS}.parentElement.previousElementSibling"
    typed = "one.dispatchEvent(new Event('input', {bubbles: true}))"
    browser.run(
        f"(() => {{ const one = {tools}.querySelector('input[type=search]'); "
        f"one.value = 'MCP250 pra'; {typed}; }})()"
    )
    assert texts(browser, names.index("algorithm")) == ["PRA"] * 4
    assert browser.run(f"{tools}.querySelector('output').textContent") == "4 of 28 lines"
    browser.run(
        f"(() => {{ const one = {tools}.querySelector('select'); one.value = 'mcp250-3'; "
        "one.dispatchEvent(new Event('change')); })()"
    )
    assert texts(browser, names.index("problem")) == ["mcp250-3"]
    for column, expected in ((names.index("products"), True), (names.index("queries"), False)):
        cell = f"{CELLS}.tBodies[0].rows[0].cells[{column}]"
        box = f"{tools}.querySelectorAll('input[type=checkbox]')[{column}]"
        assert browser.run(f"{cell}.hidden") == expected
        assert browser.run(f"({box}.click(), {cell}.hidden)") == (not expected)


def test_a_name_on_the_page_of_all_opens_the_results_of_its_experiment(
    browser: Browser, results: Path
) -> None:
    browser.open(results / "index.html", 1400)
    visible = "document.querySelector('#maxcut').checkVisibility()"
    assert browser.run(visible) is False
    browser.run("document.querySelector('a[href=\"#maxcut\"]').click()")
    assert browser.run(f"new Promise((done) => setTimeout(() => done({visible}), 200))") is True
