"""Table 6.1 for LaTeX (booktabs), rounded for reading, the best in bold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from perceptron_lab.reporting.printing.typesetting import DAGGER, NOTHING, count, escape, seconds
from perceptron_lab.reporting.table_6_1.comparison import Comparison, Entry
from perceptron_lab.reporting.table_6_1.rounding import spreads

WIDEST = 12
"""Columns of numbers that fit beside the names; further labels go into a further tabular."""


def latex(comparison: Comparison, title: str) -> str:
    r"""Return Table 6.1 as a ``table`` environment; its preamble needs ``\usepackage{booktabs}``.

    Bold, as in the thesis: the fewest queries and seconds of a problem, among the answers that are
    proved. A dagger marks every entry that is not a proved feasible point; the note says what it
    is instead.

    Parameters
    ----------
    comparison
        The numbers.
    title
        The caption; special characters are escaped.
    """
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering\\footnotesize\\setlength{\\tabcolsep}{2.5pt}",
        f"\\caption{{{escape(title)}}}",
        "\\label{tab:table_6_1}",
    ]
    for labels in _panels(comparison):
        lines += [*_tabular(comparison, labels), "", "\\medskip"]
    lines += ["\\parbox{\\linewidth}{\\raggedright", *_notes(comparison), "}", "\\end{table}"]
    return "\n".join(lines) + "\n"


def _fields(comparison: Comparison, label: str) -> list[str]:
    seeds = ["seeds"] if comparison.several_seeds else []
    if comparison.has_thesis(label):
        return [*seeds, "updates", "queries", "thesis", "\\%", "seconds", "thesis"]
    return [*seeds, "updates", "queries", "seconds"]


def _panels(comparison: Comparison) -> Iterator[list[str]]:
    """Split the labels so that no tabular is wider than a page."""
    panel: list[str] = []
    width = 0
    for label in comparison.labels:
        columns = len(_fields(comparison, label))
        if panel and width + columns > WIDEST:
            yield panel
            panel, width = [], 0
        panel.append(label)
        width += columns
    yield panel


def _tabular(comparison: Comparison, labels: list[str]) -> list[str]:
    fields = {label: _fields(comparison, label) for label in labels}
    heads = [f"\\multicolumn{{{len(fields[label])}}}{{c}}{{{escape(label)}}}" for label in labels]
    names = [name for label in labels for name in fields[label]]
    return [
        f"\\begin{{tabular}}{{lr{''.join(' ' + 'r' * len(fields[label]) for label in labels)}}}",
        "\\toprule",
        " & & " + " & ".join(heads) + " \\\\",
        " ".join(_rules([len(fields[label]) for label in labels])),
        " & ".join(["problem", "$m$", *names]) + " \\\\",
        "\\midrule",
        *(_line(comparison, problem, labels) for problem in comparison.orders),
        "\\bottomrule",
        "\\end{tabular}",
    ]


def _rules(widths: list[int]) -> Iterator[str]:
    first = 3
    for width in widths:
        yield f"\\cmidrule(lr){{{first}-{first + width - 1}}}"
        first += width


def _line(comparison: Comparison, problem: str, labels: list[str]) -> str:
    order = comparison.orders[problem]
    cells = [escape(problem), NOTHING if order is None else str(order)]
    for label in labels:
        cells += _cells(comparison, problem, label)
    return " & ".join(cells) + " \\\\"


def _cells(comparison: Comparison, problem: str, label: str) -> list[str]:
    entry = comparison.entries[problem, label]
    mark = "" if entry.proved else DAGGER
    cells = [str(entry.seeds)] if comparison.several_seeds else []
    cells += [count(entry.updates) + mark, _best(comparison, problem, entry, _queries) + mark]
    if comparison.has_thesis(label):
        cells += [count(entry.thesis.queries if entry.thesis else None), _deviation(entry)]
    cells.append(_best(comparison, problem, entry, _seconds) + mark)
    if comparison.has_thesis(label):
        cells.append(f"{entry.thesis.seconds:.1f}" if entry.thesis else NOTHING)
    return cells


def _best(
    comparison: Comparison,
    problem: str,
    entry: Entry,
    shown: Callable[[Entry], tuple[float, str]],
) -> str:
    """Print in bold what no other proved answer beats; what prints alike is alike."""
    text = shown(entry)[1]
    if not entry.proved or len(comparison.labels) == 1:
        return text
    best = min(shown(rival) for rival in comparison.row(problem) if rival.proved)
    return f"\\textbf{{{text}}}" if text == best[1] else text


def _queries(entry: Entry) -> tuple[float, str]:
    return entry.queries or 0.0, count(entry.queries)


def _seconds(entry: Entry) -> tuple[float, str]:
    return entry.seconds or 0.0, seconds(entry.seconds)


def _deviation(entry: Entry) -> str:
    if entry.deviation is None:
        return NOTHING
    return "0" if entry.deviation == 0 else f"${entry.deviation:+.2f}$"


def _notes(comparison: Comparison) -> Iterator[str]:
    if any(comparison.has_thesis(label) for label in comparison.labels):
        yield (
            "Columns ``thesis'': Kharechko2009, Table 6.1, where ``updates'' counts oracle queries "
            "and the machine ran at 2.6\\,GHz. Columns \\%: deviation of our queries from them."
        )
        yield from _rounding(comparison)
    if comparison.several_seeds:
        yield "Numbers are medians over the seeds."
    if len(comparison.labels) > 1:
        yield "Bold: the fewest queries and seconds of a problem among the proved answers."
    unproved = [
        f"{escape(problem)}, {escape(label)}: {escape(entry.status)}"
        for (problem, label), entry in comparison.entries.items()
        if not entry.proved
    ]
    if unproved:
        yield f"{DAGGER} Not a proved feasible point: {'; '.join(unproved)}."
    else:
        yield "Every answer is a point proved feasible on the original data."


def _rounding(comparison: Comparison) -> Iterator[str]:
    """Say which counts depend on the BLAS kernel, and which on zeros; of others nothing is known.

    What is recorded is about the thesis's oracle and constants: about entries with those counts.
    """
    known = {
        cell: spread
        for cell, spread in spreads().items()
        if (entry := comparison.entries.get(cell)) is not None
        and entry.proved
        and entry.queries is not None
        and spread.least <= entry.queries <= spread.most
    }
    if known:
        differing = [cell for cell, spread in known.items() if spread.hangs_on_kernel]
        other = f", but for {_listed(differing)}" if differing else ""
        some, all_ = len(known), len(comparison.entries)
        whose = "All queries" if some == all_ else f"The queries of {some} of the {all_} entries"
        yield (
            f"{whose} are the same under OpenBLAS's kernels for Prescott, Nehalem, Sandybridge, "
            f"Haswell and SkylakeX{other}."
        )
    moved = [cell for cell, spread in known.items() if spread.hangs_on_zeros]
    if moved:
        most = max(known[cell].change for cell in moved)
        yield (
            "These hang on zeros that come out exact, and noise of $2^{-52}$ in the points changed "
            f"them by up to {most:.1f}\\,\\%: {_listed(moved)}."
        )


def _listed(cells: list[tuple[str, str]]) -> str:
    """Name problems, each with its labels."""
    problems = dict.fromkeys(problem for problem, _ in cells)
    labels = {p: ", ".join(label for problem, label in cells if problem == p) for p in problems}
    return "; ".join(f"{escape(problem)} {labels[problem]}" for problem in problems)
