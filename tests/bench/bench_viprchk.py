"""How far viprchk goes; not collected by default: `pytest -s tests/bench/bench_viprchk.py`.

Proofs that random systems of doubles have no strictly feasible point, as `plab certify --format
vipr` writes them: normal rows, three for each unknown, of which the proof has one more than
unknowns; and linear matrix inequalities of order 2 n^(1/2), whose proof is in cuts. Sizes grow as
long as viprchk needs less than MOST / 4 seconds of CPU; above 1200 equations there is no exact
proof. It is found as tests/exact/viprchk.py says.
"""

import resource
import subprocess
import time

import numpy as np
import pytest

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.exact.readings import of_rows
from perceptron_lab.exact.weights import infeasible_cone, infeasible_rows, vipr_text
from perceptron_lab.exact.whole_numbers import exactly
from tests.exact.viprchk import VARIABLE, viprchk

MOST = 120.0
SIZES = (25, 50, 100, 200, 400, 800, 1150)


def of_normal_rows(unknowns):
    """The checker's system, and the claim that it has no point."""
    rows = np.random.default_rng(0).standard_normal((3 * unknowns, unknowns))
    reading = of_rows(rows)
    bits = reading.system().scale.bit_length() - 1
    vectors = [exactly(row, bits) for row in rows]
    return reading.system(), infeasible_rows(vectors, range(len(rows)), np.ones(len(rows)))


def of_matrices(unknowns):
    """The same of sum_i y_i F_i, all F_i orthogonal to the identity but for rounding."""
    order = int(2 * unknowns**0.5)
    cone = Semidefinite(order, *np.triu_indices(order))
    entries = np.random.default_rng(0).standard_normal((cone.size, unknowns))
    on = cone.identity > 0.0
    entries[on] -= entries[on].mean(axis=0)
    system = of_rows(entries, cone).system()
    return system, infeasible_cone(cone, cone.identity, system, homogenised=False)


def judged(path):
    """Whether viprchk accepts a file, and its seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = int(2 * MOST)
    completed = subprocess.run(
        ["bash", "-c", f'ulimit -t {limit}; exec "$0" "$1"', viprchk(), path],
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return "Successfully verified" in completed.stdout and not completed.returncode, seconds


@pytest.mark.skipif(viprchk() is None, reason=f"{VARIABLE} does not name viprchk")
@pytest.mark.parametrize("make_system", [of_normal_rows, of_matrices])
def test_sizes_that_viprchk_can_check(make_system, tmp_path):
    print(
        f"\n| {make_system.__name__[3:]}: unknowns | rows of the proof | MB | found, s | viprchk, "
        "s |"
    )
    print("|--:|--:|--:|--:|--:|")
    seconds = 0.0
    for unknowns in SIZES:
        if seconds > MOST / 4:
            break
        clock = time.process_time()
        system, claim = make_system(unknowns)
        assert claim is not None
        text = vipr_text(system, claim)
        assert text is not None
        search = time.process_time() - clock
        path = tmp_path / "claim.vipr"
        path.write_text(text)
        accepted, seconds = judged(path)
        count = text.split("CON ")[1].split()[0]
        size = path.stat().st_size / 1e6
        print(f"| {unknowns} | {count} | {size:.2f} | {search:.1f} | {seconds:.2f} |", flush=True)
        assert accepted
