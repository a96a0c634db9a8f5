"""Certificates of the kinds of infeasibility: each is accepted, and forged ones are refused."""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.cli.main import main
from perceptron_lab.core.saved_answers.kinds import KINDS_OF_INFEASIBILITY
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.datasets.generated.infeasible_programs import InfeasibleSdp
from perceptron_lab.exact.checker import checker, kinds_checker, kinds_path
from perceptron_lab.exact.kinds import kind_claim
from perceptron_lab.experiments.certifying.certify import CertificationStatus, certify
from perceptron_lab.experiments.verification.claims import Verdict
from perceptron_lab.experiments.verify import verify
from perceptron_lab.systems.pencil import homogenised
from tests.exact.kinds_judge import holds
from tests.exact.mutations import at_path
from tests.exact.test_tampering import numbers_in, other_digit, replaced
from tests.experiments.certified import certified
from tests.repetitions import parts
from tests.solving.test_kinds_of_infeasibility import CASES
from tests.solving.without_conflict import without_conflict

Claim = dict[str, Any]


# F_44 = 0 makes F_14 = y = 0 = F_33, which makes F_13 = 1 + z = 0, and F_22 = z is -1
THREE_FACES = "3\n1\n4\n0 0 0\n0 1 1 3 -1\n1 1 1 1 1\n2 1 1 4 1\n2 1 3 3 1\n3 1 1 3 1\n3 1 2 2 1\n"
# [[x, 1 + y], [1 + y, 0]], y >= 0, diag(x, y)
BLOCKS = "2\n3\n2 -1 2\n0 0\n0 1 1 2 -1\n1 1 1 1 1\n2 1 1 2 1\n2 2 1 1 1\n1 3 1 1 1\n2 3 2 2 1\n"
PROGRAMS = {
    **{name: case for name, case in CASES.items() if case[1]},
    "three faces": (THREE_FACES, "weak"),
    "three blocks": (BLOCKS, "weak"),
    # The determinant of [[x + 2, x + 3], [x + 3, x + 4]] is -1
    "turned": (
        "1\n1\n2\n0\n0 1 1 1 -2\n0 1 1 2 -3\n0 1 2 2 -4\n1 1 1 1 1\n1 1 1 2 1\n1 1 2 2 1\n",
        "weak",
    ),
    # A row is 0 on the face, and left out
    "x >= 0 >= x": ("2\n2\n-1 2\n0 0\n1 1 1 1 -1\n1 2 1 1 1\n2 2 2 2 1\n", "boundary only"),
    "decimals": ("1\n1\n2\n0\n0 1 1 2 -.5\n1 1 1 1 1.5\n", "weak"),
}
CONES: dict[str, tuple[Callable[[Any, Any], list[Any]], str]] = {
    "norm(x, 1) <= x": (lambda x, y: [cvxpy.SOC(x, cvxpy.hstack([x, 1]))], "weak"),
    "norm(x, 0) <= x": (lambda x, y: [cvxpy.SOC(x, cvxpy.hstack([x, 0])), y >= 1], "boundary only"),
    "two pairs": (
        lambda x, y: [
            cvxpy.SOC(-x, cvxpy.hstack([x, 0])),
            cvxpy.SOC(y, cvxpy.hstack([y, x - 1])),
        ],
        "weak",
    ),
    "norm(3x - 4, 4x + 3) <= 5x": (
        lambda x, y: [cvxpy.SOC(5 * x, cvxpy.hstack([3 * x - 4, 4 * x + 3]))],
        "weak",
    ),
    "norm(x, 1) <= -1": (lambda x, y: [cvxpy.SOC(-1, cvxpy.hstack([x, 1]))], "strong"),
}
MESSY = "Liu and Pataki, messy"
# What else is true of a system of each kind
IMPLIED = {"strong": {"strong", "no point"}, "weak": {"weak", "no point"}}


@cache
def certificate(name: str) -> tuple[Any, Claim, str]:
    """Return data of the checker, the claim of a system, and its kind."""
    if name in PROGRAMS:
        text, kind = PROGRAMS[name]
        system: Any = homogenised(parse_sdpa(text))
    elif name == MESSY:
        dataset = InfeasibleSdp(family="liu-pataki", kind="weak", messy=True, order=6, equations=5)
        system, kind = dataset.problem(0).system, "weak"
    else:
        conditions, kind = CONES[name]
        problem = cvxpy.Problem(cvxpy.Minimize(0), conditions(cvxpy.Variable(), cvxpy.Variable()))
        system = ConicSystem.from_cvxpy(problem)
    with without_conflict():
        result = solve(system, budget=Budget(seconds=60))
    claim = kind_claim(system, result.certificate, result.weights)
    assert claim is not None
    pencil, form = system.exact_pencil(), "cone" if name in CONES else "sdpa"
    blocks, rows = pencil.blocks, pencil.rows
    data = checker().System(form, pencil.width, 1, blocks, rows, None, ("", "x", ""))
    return data, json.loads(json.dumps(claim)), kind or ""


NAMES = [*PROGRAMS, *CONES, MESSY]


def accepted(data: Any, claim: Claim) -> bool:
    try:
        kinds_checker().check_kind(data, claim)
    except Exception:  # as for the checker's own command line, it is unreadable
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_has_a_certificate(name: str) -> None:
    data, claim, kind = certificate(name)
    assert claim["claim"] == kind
    sentence = kinds_checker().check_kind(data, claim)
    distance = {
        "strong": "positive",
        "weak": "is 0",
        "boundary only": "none strictly so in blocks",
    }[kind]
    assert distance in sentence
    assert holds(data, claim)


def of_each_piece(claim: Claim, other: Claim) -> list[Claim]:
    """Return claims of which a piece is missing, doubled, moved, or from another certificate."""
    forged = [claim | {"claim": kind} for kind in kinds_checker().KINDS if kind != claim["claim"]]
    for name in claim.keys() - {"claim"}:
        steps = claim[name]
        forged.append({key: value for key, value in claim.items() if key != name})
        forged += [claim | {name: changed} for changed in (steps[::-1], [], other.get(name, []))]
        forged += [claim | {name: steps[:k] + steps[k + 1 :]} for k in range(len(steps))]
        forged += [claim | {name: [*steps, step]} for step in steps]
        forged += [claim | {key: value} for key, value in other.items() if key != name]
    forged.append(claim | {"chain": claim.get("sequence", []), "sequence": claim["chain"]})
    return [each for each in forged if each != claim]


def changed_number(claim: Claim, rng: random.Random) -> Claim:
    """Return a claim with a digit, a sign, or two numbers changed, or a list cut."""
    copy = deepcopy(claim)
    indices = numbers_in(copy)
    index, other = rng.choice(indices), rng.choice(indices)
    value = at_path(copy, index)
    match rng.choice(("digit", "sign", "one", "swap", "cut", "kind")):
        case "digit":
            replaced(copy, index, other_digit(value, rng))
        case "sign":
            replaced(copy, index, -value)
        case "one":
            replaced(copy, index, value + rng.choice((-1, 1)))
        case "swap":
            replaced(copy, index, at_path(copy, other))
            replaced(copy, other, value)
        case "cut":
            at_path(copy, index[:-1]).pop(index[-1])
        case "kind":
            copy["claim"] = rng.choice([*kinds_checker().KINDS])
    return copy


@pytest.mark.parametrize("seeds", parts(10_000, kept=200))
def test_a_forged_certificate_is_accepted_only_if_it_proves_what_is_true(seeds: range) -> None:
    refused, still_proved = 0, 0
    for seed in seeds:
        rng = random.Random(seed)
        data, claim, kind = certificate(NAMES[seed % len(NAMES)])
        _, other, _ = certificate(rng.choice(NAMES))
        forged = claim
        if rng.random() < 0.4:
            forged = rng.choice(of_each_piece(claim, other))
        if forged is claim or (numbers_in(forged) and rng.random() < 0.2):
            forged = changed_number(forged, rng)
        if not accepted(data, forged):
            refused += 1
            continue
        assert forged["claim"] in IMPLIED.get(kind, {kind}), forged
        assert holds(data, forged), forged
        still_proved += forged != claim
    assert refused > 0.7 * len(seeds)
    assert still_proved  # a larger weight, say


@pytest.fixture(scope="module", params=["decimals", "diag(0, x)", "diag(-1, x)"])
def on_disk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an answer saved beside its file, ``model.dat-s``."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "model.dat-s").write_text(PROGRAMS[request.param][0])
    assert main(["solve", str(folder / "model.dat-s"), "--save", str(folder / "a.npz")]) == 0
    return folder


def test_a_saved_kind_is_verified_and_certified(
    on_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (verified,) = verify(on_disk / "a.npz", exact=True).cells
    assert (verified.verdict, verified.exact) == (Verdict.PROVED, True)
    kind = {"certificate.infeasibility", "certificate.chain", "certificate.boundary_point"}
    assert not kind & {*verified.not_verified}
    (cell,) = certify(on_disk / "a.npz", on_disk / "exact").cells
    assert cell.kind is not None
    words = [sys.executable, str(kinds_path()), cell.kind, str(on_disk / "model.dat-s")]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run
    assert re.match("PROVED: (no|some) x has F", run.stdout)
    # The decimals of other data make the numbers of the chain those of nothing
    (on_disk / "other.dat-s").write_text("1\n1\n2\n0\n0 1 1 2 -.5\n1 1 1 1 1\n1 1 2 2 3\n")
    record = json.loads(Path(cell.kind).read_bytes())
    record["data"]["sha256"] = hashlib.sha256((on_disk / "other.dat-s").read_bytes()).hexdigest()
    (on_disk / "b.json").write_text(json.dumps(record))
    check = kinds_checker().check_kind
    paths = [str(on_disk / "b.json"), str(on_disk / "other.dat-s")]
    assert kinds_checker().main(paths, check) == 1
    assert capsys.readouterr().out.startswith("NOT PROVED")


def test_a_changed_kind_in_a_saved_answer_is_not_proved(on_disk: Path) -> None:
    arrays = dict(np.load(on_disk / "a.npz"))
    record = json.loads(str(arrays["json"]))
    stated = record["certificate"]["infeasibility"]
    changes: list[dict[str, Any]] = [
        {"infeasibility": kind} for kind in KINDS_OF_INFEASIBILITY[1:] if kind != stated
    ]
    changes += [{"boundary_point": ["7"]}, {"chain": [[[[], []], [[1], [[1, 1]], []]]]}]
    for change in changes:
        changed = record | {"certificate": record["certificate"] | change}
        np.savez(on_disk / "changed.npz", **(arrays | {"json": np.array(json.dumps(changed))}))
        (cell,) = verify(on_disk / "changed.npz").cells
        unproved = "certificate.infeasibility" in cell.not_verified
        assert cell.verdict is Verdict.NOT_PROVED or unproved, (stated, change)


def test_a_second_order_system_without_objective_is_certified(tmp_path: Path) -> None:
    problem = {"dataset": "infeasible-sdp", "family": "second-order", "order": 4}
    path = certified(tmp_path, problem, {"name": "auto"})
    (cell,) = certify(path, tmp_path / "exact").cells
    assert (cell.outcome, cell.claims) == (CertificationStatus.CERTIFIED, ("infeasible",))
    assert cell.kind is not None
    ((sentence, reason),) = checker().check(cell.kind, cell.data, prove=kinds_checker().check_kind)
    assert not reason
    assert sentence.startswith("no y has A y in the closed cone and x_0 = 1, and their distance")


def test_a_feasible_answer_has_no_kind(tmp_path: Path) -> None:
    text = CASES["feasible, [[x, 1], [1, x]]"][0]
    (tmp_path / "model.dat-s").write_text(text)
    assert main(["solve", str(tmp_path / "model.dat-s"), "--save", str(tmp_path / "a.npz")]) == 0
    (cell,) = verify(tmp_path / "a.npz").cells
    assert cell.verdict is Verdict.PROVED
    assert not {"certificate.infeasibility", "certificate.chain"} & {*cell.not_verified}
    arrays = dict(np.load(tmp_path / "a.npz"))
    record = json.loads(str(arrays["json"]))
    record["certificate"]["infeasibility"] = "weak"
    np.savez(tmp_path / "b.npz", **(arrays | {"json": np.array(json.dumps(record))}))
    assert verify(tmp_path / "b.npz").cells[0].verdict is Verdict.NOT_PROVED


def program(text: str) -> Any:
    return checker().sdpa_system(text.encode(), {"form": "sdpa", "question": "feasibility"})


def pair_of(third: tuple[int, ...], *more: tuple[int, ...]) -> Any:
    """Return x_0 > 0, rows, and a pair ((u, v), t) of two scores (z, v, t) of y = (x_0, z, v)."""
    scores = [(1, 0, 0), *more, third, (0, 0, 1), third]
    kinds = [("rows", 1), *(("rows", 1) for _ in more), ("second-order", 3)]
    positions = [(b, 0) for b in range(len(more) + 1)] + [(len(more) + 1, i) for i in range(3)]
    rows = [(b, i, i, range(3), s) for (b, i), s in zip(positions, scores, strict=True)]
    return checker().System("cone", 3, 1, kinds, rows, None, ("", "y", ""))


NO_ROWS, NOTHING = [[], []], [[], [], []]
X_0 = [[0], [1]]
FEASIBLE = program(CASES["feasible, [[x, 1], [1, x]]"][0])
WEAK = program(CASES["[[x, 1], [1, 0]]"][0])
STRONG = program(CASES["diag(-1, x)"][0])
W_STRONG = [X_0, [[1], [[1, 0]], []]]
TWO_ROWS = program("1\n1\n-2\n0\n0 1 2 2 1\n1 1 1 1 1\n1 1 2 2 1\n")
# F = [[1, 1, 0], [1, 1, 1], [0, 1, 1]] has no place (1, 3), with which it would be semidefinite
BAND = program(
    "1\n1\n3\n0\n" + "".join(f"0 1 {p} -1\n" for p in ("1 1", "1 2", "2 2", "2 3", "3 3"))
)
RAY = [NO_ROWS, [[0, 2], [-1, 1]]]
FALSE: dict[str, tuple[Any, Claim]] = {
    "a vector without a part": (
        FEASIBLE,
        {
            "claim": "no point",
            "chain": [
                [NO_ROWS, [[0], [[1, 0]], []]],
                [[[0], [2]], [[], [], [[0, [[1], [-1]]]]]],
            ],
        },
    ),
    "a negative part": (
        FEASIBLE,
        {"claim": "strong", "chain": [[[[0], [4]], [[1, -1], [[1, -1], [1, 1]], []]]]},
    ),
    "a negative row": (TWO_ROWS, {"claim": "strong", "chain": [[X_0, [[0, 1], [-1, 1]]]]}),
    "a negative row after 0": (
        TWO_ROWS,
        {"claim": "no point", "chain": [[NO_ROWS, [[0], [0]]], [X_0, [[0, 1], [-1, 1]]]]},
    ),
    "a pair outside the cone": (
        pair_of((1, 0, 0)),
        {"claim": "strong", "chain": [[X_0, [[0], [-1]]]]},
    ),
    "a negative multiple of a ray": (
        pair_of((1, 0, 0)),
        {"claim": "no point", "chain": [RAY, [X_0, [[2], [-1]]]]},
    ),
    "a chain for strong": (
        WEAK,
        {
            "claim": "strong",
            "chain": [
                [NO_ROWS, [[1], [[0, 1]], []]],
                [[[0], [2]], [[], [], [[0, [[0], [-1]]]]]],
            ],
        },
    ),
    "weights without x_0": (
        program(CASES["diag(0, x)"][0]),
        {"claim": "no point", "chain": [[NO_ROWS, [[1], [[1, 0]], []]]]},
    ),
    "x first in place of x_0": (
        checker().System(
            *("cone", 2, 1, [("rows", 1), ("rows", 1)]),
            [(0, 0, 0, (0, 1), (0, 1)), (1, 0, 0, (0, 1), (0, -1))],
            *(None, ("", "y", "")),
        ),
        {"claim": "strong", "chain": [[[[0], [1]], [[0], [1]]]]},
    ),
    "weights 0": (
        FEASIBLE,
        {
            "claim": "boundary only",
            "chain": [[NO_ROWS, NOTHING]],
            "sequence": [[[1, 2], 1, [X_0, [[1, 1, 1], [[1, 1], [1, 0], [0, 1]], []]]]],
        },
    ),
    "a place without a score": (
        BAND,
        {
            "claim": "boundary only",
            "chain": [[X_0, [[1], [[1, -1, 1]], []]]],
            "sequence": [[[1, 0], 1, [X_0, [[1], [[1, 1, 1]], []]]]],
        },
    ),
    "another point": (
        STRONG,
        {"claim": "weak", "chain": [W_STRONG], "sequence": [[[1, 0], 1, [X_0, NOTHING]]]},
    ),
    "multiple 0": (
        STRONG,
        {"claim": "weak", "chain": [W_STRONG], "sequence": [[[0, 0], 0, [X_0, NOTHING]]]},
    ),
    "a sequence that ends early": (
        STRONG,
        {
            "claim": "weak",
            "chain": [W_STRONG],
            "sequence": [[[0, 1], 1, [NO_ROWS, [[1], [[0, 1]], []]]]],
        },
    ),
    "another first row": (
        STRONG._replace(rows=[(0, 0, 0, (0, 1), (1, 1)), *STRONG.rows[1:]]),
        {"claim": "strong", "chain": [W_STRONG]},
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_certificate_that_breaks_one_rule_is_refused(name: str) -> None:
    assert not accepted(*FALSE[name])


def test_a_pair_that_is_0_admits_any_weights() -> None:
    """(z, v, z) with -z >= 0 is 0, so that z + v - x_0 >= 0 has no solution."""
    data = pair_of((0, 1, 0), (0, -1, 0), (-1, 1, 1))
    none: list[Any] = [[], []]
    chain = [
        [none, none, none, [[0, 2], [-1, 1]]],
        [none, X_0, none, [[2], [1]]],
        [X_0, none, X_0, [[0, 1], [-1, -1]]],
    ]
    assert accepted(data, {"claim": "no point", "chain": chain})
    assert not accepted(data, {"claim": "no point", "chain": [chain[0], chain[2]]})


def test_irrational_weights_are_verified_and_have_no_certificate(tmp_path: Path) -> None:
    """W13 = W22, 2 W33 = 4 W12 and W23 = 2 W11 leave (1, a, a^2), a^3 = 2."""
    entries = "1 1 1 3 .5\n1 1 2 2 -1\n2 1 1 2 .5\n2 1 3 3 -.5\n3 1 2 3 .5\n3 1 1 1 -2\n"
    (tmp_path / "model.dat-s").write_text(f"3\n1\n3\n0 0 0\n{entries}")
    assert main(["solve", str(tmp_path / "model.dat-s"), "--save", str(tmp_path / "a.npz")]) == 0
    (cell,) = verify(tmp_path / "a.npz").cells
    assert (cell.verdict, cell.status) == (Verdict.PROVED, "INFEASIBLE"), cell
    (outcome,) = certify(tmp_path / "a.npz", tmp_path / "exact").cells
    assert outcome.outcome is CertificationStatus.NOT_CERTIFIED
