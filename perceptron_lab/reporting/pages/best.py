"""The first sentence of a page: which algorithm was best, by how much, on how many instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from perceptron_lab.core.errors import counted
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.ratios import BoolArray
from perceptron_lab.reporting.studies.timing import Profile, profiles
from perceptron_lab.reporting.summary import CLAIMS

EQUAL: Final = 0.95
"""A larger ratio of times names no best algorithm. The value is a convention, not a measurement."""
MOST_NAMED: Final = 3
"""The most algorithms that are named of those with equally many answers."""


def best_sentence(runs: pd.DataFrame, machines: int = 1) -> str:
    """Return who was best: by verified answers, of equally many by the time to them.

    An instance is a problem with a seed. Answers count as in
    :func:`~perceptron_lab.reporting.studies.timing.profiles`; where the goal is another than a
    decision, those that reach it. Times include the proofs, and are compared by the geometric mean
    of the ratios on the instances that all compared algorithms answered. Learners, optima without
    a common width, and runs that use their whole budget have a sentence without a best algorithm.

    Parameters
    ----------
    runs
        The checked table of runs.
    machines
        On how many machines they were made. Times of several are stated with a reservation.
    """
    claimed = runs["status"].isin(CLAIMS)
    goal = runs["goal"] if "goal" in runs else pd.Series("decide", runs.index)
    missed = runs["goal_reached"] == "false" if "goal_reached" in runs else goal.isna()
    reached = ~missed | (goal == "decide")
    counting = runs.assign(proved=claimed & runs["proved"] & reached)
    measured = profiles(counting)
    instances = len(measured[0].ratios)
    if (goal == "budget").any():
        return "No algorithm is named the best: each run used its whole budget."
    if (goal == "").all() and "optimum_width" in runs and runs["optimum_width"].notna().any():
        return "No algorithm is named the best: proved optima of different widths do not compare."
    if (runs["status"] == Status.FITTED).any():
        return "Fitted models are not verified, so no algorithm is named the best."
    if not counting["proved"].any():
        return "No answer is verified, so no algorithm is named the best."
    sentence = _compared(measured, instances)
    unproved = int((claimed & ~runs["proved"]).sum())
    tail = f" {counted(unproved, 'unverified answer')} did not count." if unproved else ""
    if machines > 1 and sentence.endswith("(geometric mean)."):
        tail += f" The runs were made on {machines} machines, so compare these times with care."
    return sentence + tail


def _compared(measured: Sequence[Profile], instances: int) -> str:
    """Return the sentence, of profiles of which some have an answer."""
    solved = {profile.label: int(np.isfinite(profile.ratios).sum()) for profile in measured}
    most = max(solved.values())
    leaders = [profile for profile in measured if solved[profile.label] == most]
    answers = f"verified answers on {most} of {counted(instances, 'instance')}"
    if len(measured) == 1:
        return f"{measured[0].label}, the only algorithm, has {answers}."
    if len(leaders) > 1:
        return _among_equals(leaders, answers)
    (best,) = leaders
    competitors = [profile for profile in measured if profile is not best and solved[profile.label]]
    if not competitors:
        return f"{best.label} was the best: it alone has {answers}."
    second = min(competitors, key=lambda profile: (-solved[profile.label], _ratio(profile, best)))
    common = _common([best, second])
    sentence = f"{best.label} was the best: it has {answers}, {second.label} on "
    sentence += f"{solved[second.label]}"
    if not common.any():
        return f"{sentence}, none of them the same."
    times = f"{_ratio(best, second):.3g} times the time of {second.label} to a verified answer"
    return f"{sentence}; on the {_both(common)} it took {times} (geometric mean)."


def _among_equals(leaders: Sequence[Profile], answers: str) -> str:
    """Return the sentence of algorithms that answered equally many instances."""
    names = f"{', '.join(profile.label for profile in leaders[:-1])} and {leaders[-1].label}"
    names = names if len(leaders) <= MOST_NAMED else f"{len(leaders)} algorithms"
    common = _common(leaders)
    if not common.any():
        return f"No algorithm was the best: {names} each have {answers}, but on no common one."
    means = {p.label: float(np.log(p.ratios[common]).mean()) for p in leaders}
    best, second = sorted(means, key=lambda label: means[label])[:2]
    ratio = float(np.exp(means[best] - means[second]))
    if ratio > EQUAL:
        return (
            f"{best} and {second} were equally good: {names} each have {answers}, and on the "
            f"{_both(common)} the times of the two to a verified answer differ by less than "
            f"{100 * (1 - EQUAL):.0f} % (geometric mean)."
        )
    return (
        f"{best} was the best: {names} each have {answers}, and on the {_both(common)} it took "
        f"{ratio:.3g} times the time of {second} to a verified answer (geometric mean)."
    )


def _common(compared: Sequence[Profile]) -> BoolArray:
    """Return on which instances all have an answer."""
    finite = np.isfinite([profile.ratios for profile in compared])
    return np.asarray(finite.all(axis=0))


def _ratio(first: Profile, second: Profile) -> float:
    """Return the geometric mean of the times of the first over the second's; infinite of none."""
    common = _common([first, second])
    if not common.any():
        return float("inf")
    return float(np.exp(np.log(first.ratios[common] / second.ratios[common]).mean()))


def _both(common: BoolArray) -> str:
    number = int(common.sum())
    return (
        "one that all of these answered" if number == 1 else f"{number} that all of these answered"
    )
