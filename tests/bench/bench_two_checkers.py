"""Both checkers on many certificates, counted: `python -m tests.bench.bench_two_checkers KIND`.

KIND is `forgeries`, `mutated` or `valid`, with the number of seeds, from 0; or `sample`, with
folders of results/sample (without any: all that hold certificates): what `plab certify` writes of
their rows is given to both. The second checker is stopped after MOST seconds.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from perceptron_lab.exact.checker import checker
from perceptron_lab.experiments.certifying.certify import CertificationStatus, certify
from tests.exact.agreement import WORDS, answer_of, counted
from tests.exact.killing import Endless, at_most
from tests.exact.second_checker.check import answer

MOST = 60.0
SAMPLE = Path("results/sample")


def count_seeds(kind: str, count: int) -> None:
    with TemporaryDirectory() as folder:
        start = time.process_time()
        counts = counted(kind, range(count), Path(folder))
    print(f"{kind}, seeds 0 to {count - 1}, {time.process_time() - start:.0f} s of CPU")
    print(counts)
    print(f"apart: {counts.apart}, false: {counts.false}, valid and refused: {counts.refused}")


def count_sample(folders: list[str]) -> None:
    total: Counter[tuple[str, str]] = Counter()
    for folder in sorted(SAMPLE / name for name in folders):
        with TemporaryDirectory() as output:
            outcomes: Counter[str] = Counter()
            for cell in certify(folder, Path(output)).cells:
                if cell.outcome is not CertificationStatus.CERTIFIED:
                    outcomes[cell.outcome.value] += 1
                    continue
                assert cell.path is not None
                pair = both(Path(cell.path), Path(cell.data) if cell.data else None)
                outcomes["/".join(pair)] += 1
                if pair[0] != pair[1]:
                    print(cell, *pair)
                total[pair] += 1
        print(folder.name, dict(outcomes), flush=True)
    print(dict(total))


def both(path: Path, data: Path | None) -> tuple[str, str]:
    """Return the answers of both checkers to a certificate on disk."""
    certificate = path.read_bytes()
    beside = data or path.with_name(path.name.replace(".certificate.json", ".data"))
    content = beside.read_bytes()
    with TemporaryDirectory() as folder:
        first = WORDS[answer_of(certificate, content, Path(folder), checker())[0]]
    try:
        with at_most(MOST):
            return first, WORDS[answer(certificate, content)]
    except Endless:
        return first, "not ended"


if __name__ == "__main__":
    kind, *arguments = sys.argv[1:]
    if kind == "sample":
        count_sample(arguments or [path.parent.name for path in SAMPLE.glob("*/certificates")])
    else:
        count_seeds(kind, int(arguments[0]))
