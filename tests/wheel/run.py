"""The wheel in an empty environment: `python -m tests.wheel.run [DIST]`; needs nothing but Python.

Builds the source distribution, and the wheel from it; installs the wheel in an environment of its
own; and runs the quickstart and README's table of patients there, from an empty folder. The
distributions are then copied to the folder DIST, if one is given.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.prose.pages import ROOT, blocks

LARGEST = 3_000_000
"""The largest source distribution, in bytes."""
_QUICKSTART = ("runs.csv", "table_6_1.csv", "table_6_1.tex", "table_6_1.png")


def main() -> int:
    """Build, install and run; raise where one of them fails."""
    with tempfile.TemporaryDirectory(prefix="plab-wheel-") as name:
        folder = Path(name).resolve()
        wheel = _built(folder / "tools", folder / "dist")
        programs = _environment(folder / "installed", str(wheel))
        empty = folder / "empty"
        empty.mkdir()
        _run_there(programs, empty)
        for target in sys.argv[1:]:
            shutil.copytree(wheel.parent, target, dirs_exist_ok=True)
    _print("ok")
    return 0


def _built(tools: Path, target: Path) -> Path:
    """Build both distributions, check the size of the source's, and return the wheel."""
    python = _environment(tools, "build") / "python"
    subprocess.run([python, "-m", "build", "--outdir", target, ROOT], check=True)
    (wheel,), (source,) = target.glob("*.whl"), target.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        count = len(archive.getnames())
    size = source.stat().st_size
    _print(f"{source.name}: {size / 1e6:.1f} MB, {count} files; {wheel.name}")
    if size > LARGEST:
        raise SystemExit(f"{source.name}: {size} bytes; allowed: {LARGEST}")
    return wheel


def _environment(folder: Path, requirement: str) -> Path:
    """Make an environment with one requirement; return the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [programs / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-compile", requirement], check=True)
    return programs


def _run_there(programs: Path, empty: Path) -> None:
    """Run the quickstart, where there is POSIX, and README's table in an empty folder."""
    if os.name == "posix":
        _plab(programs, empty, "run", "quickstart")
        missing = [
            name for name in _QUICKSTART if not (empty / "results/quickstart" / name).is_file()
        ]
        if missing:
            raise SystemExit(f"the quickstart left no {', '.join(missing)}")
    file, table, words = patients()
    (empty / file).write_text(table, encoding="utf-8")
    printed = _plab(programs, empty, *words)
    excerpt = blocks("README.md", "text")[0]
    if not wording(printed).startswith(wording(excerpt)):  # README shows the first lines
        raise SystemExit(f"README shows\n{excerpt}\nand the wheel prints\n{printed}")


def patients() -> tuple[str, str, list[str]]:
    """Return README's table (its file's name and its text) and the words of its command."""
    (block,) = (text for text in blocks("README.md") if text.startswith("cat > "))
    parts = re.fullmatch(r"cat > (\S+) <<'end'\n(.*?)end\nplab (solve .*)\n", block, re.DOTALL)
    assert parts is not None
    return parts[1], parts[2], parts[3].split()


def wording(text: str) -> str:
    """Return an output without its numbers, whose last digits depend on the processor."""
    return re.sub(r"-?\d[\d.]*(?:e-?\d+)?", "#", text).strip()


def _plab(programs: Path, folder: Path, *words: str) -> str:
    """Run a command in a folder, with nothing of this one's Python or settings."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PLAB_", "VIRTUAL_ENV"))
    }
    _print(f"plab {' '.join(words)}")
    command = [programs / "plab", *words]
    ended = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, encoding="utf-8"
    )
    if ended.returncode:
        raise SystemExit(f"plab {' '.join(words)}: exit code {ended.returncode}\n{ended.stdout}")
    return ended.stdout


def _print(line: str) -> None:
    sys.stdout.write(f"wheel: {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
