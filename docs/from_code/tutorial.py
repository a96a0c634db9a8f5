"""The code of the tutorial and of the extending pages: run from top to bottom, with its output.

`python docs/from_code/tutorial.py` writes the output of Python into the pages. A page consists of
text and of fenced blocks:

- A block of Python is run. What it prints is in the block ``text`` that follows it.
- A block that begins with ``# NAME.py`` or ``# NAME.yaml`` is written to a file; of these, Python
  is run as well.
- A block without a language contains commands of ``plab`` and of the standalone checker. A block
  ``text`` after it contains lines that they print.

The function ``draw`` of a page returns its figure.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from from_code.themed_pictures import save_both
from perceptron_lab.cli.main import main
from perceptron_lab.core import registry

DOCS = Path(__file__).parents[1]
PAGES = [*sorted((DOCS / "tutorial").glob("*.md")), *sorted((DOCS / "extending").glob("*.md"))]
CHECKER = DOCS.parent / "checker" / "plab_check.py"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w-]+\.(?:py|yaml))\n")


@dataclass
class Page:
    """The text of a page with the output of its Python, its variables, and missing lines."""

    text: str
    variables: dict[str, Any]
    missing: list[str] = field(default_factory=list)


@contextlib.contextmanager
def fresh_interpreter(name: str) -> Iterator[dict[str, Any]]:
    """Give the variables of a new module in an empty folder; restore folder and registries."""
    module = ModuleType(f"page_{name.replace('-', '_')}")
    before, folder = registry.additions(), Path.cwd()
    sys.modules[module.__name__] = module  # dataclasses look their module up
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            yield vars(module)
        finally:
            os.chdir(folder)
            del sys.modules[module.__name__]
            for kind, added, _ in set(registry.additions()) - set(before):
                registry.unregister(kind, added)


def run(path: Path) -> Page:
    """Run all blocks of a page in order."""
    text = path.read_text(encoding="utf-8")
    with fresh_interpreter(path.stem) as variables:
        return run_blocks(text, variables)


def run_blocks(text: str, variables: dict[str, Any]) -> Page:
    """Run the blocks of a text; compare the output of commands, write that of Python."""
    page, output, language = Page(text, variables), "", ""

    def ran(match: re.Match[str]) -> str:
        nonlocal output, language
        named, code = match.groups()
        if named == "text" and language == "python":
            return f"```text\n{output}```"
        if named == "text":
            page.missing += [line for line in code.splitlines() if line not in output]
        elif not named.startswith("{"):
            output, language = _output(named, code, variables), named
        return match[0]

    page.text = FENCE.sub(ran, text)
    return page


def _output(language: str, code: str, variables: dict[str, Any]) -> str:
    """Write the file of a block or run it; return what it prints."""
    file = _FILE.match(code)
    if file:
        Path(file[1]).write_text(code, encoding="utf-8")
    if language == "python":
        return _printed(lambda: exec(compile(code, "<page>", "exec"), variables))
    return "" if language else _printed(lambda: _commands(code))


def _commands(lines: str) -> None:
    """Run commands in order."""
    for line in lines.splitlines():
        _command(line)


def _command(line: str) -> None:
    """Run a command of this package or the standalone checker."""
    program, *arguments = shlex.split(line, comments=True)
    if program == "plab":
        code = main(arguments)
    else:
        command = [sys.executable, "-I", str(CHECKER), *arguments[1:]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code = done.returncode
        sys.stdout.write(done.stdout + done.stderr)
    if code != 0:
        raise ValueError(f"{line!r} ended with exit code {code}")


def _printed(action: Callable[[], None]) -> str:
    """Return what an action prints, without spaces at the ends of lines."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        action()
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def write_figures(folder: Path) -> None:
    """Write the figure of each page that draws one; the others are not run."""
    for path in PAGES:
        if "\ndef draw(" in path.read_text(encoding="utf-8"):
            save_both(run(path).variables["draw"], folder, path.stem)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(run(path).text, encoding="utf-8")
