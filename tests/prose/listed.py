"""Which test ties the numbers of a paragraph to a sample, or why none can: page by page.

A paragraph is named by the words that it begins with.
"""

from __future__ import annotations

Listed = dict[str, dict[str, str]]
"""Page -> beginning of a paragraph -> a module of tests, or a reason."""

TIED: Listed = {
    "docs/notes/chapter-6.md": {"": "test_chapter_6_page"},
    "docs/notes/open-questions.md": {
        "**What is measured.** `plab run active_learning`": "test_numbers_of_chapter_9",
        "| stream | learner |": "test_numbers_of_chapter_9",
        "| rows | Gram": "test_numbers_of_open_questions",
        "All runs found a separator": "test_numbers_of_open_questions",
        "| rules | rho_1": "test_numbers_of_open_questions",
        "Winnow and the perceptron reach": "test_numbers_of_open_questions",
        "**There is no place": "test_numbers_of_open_questions",
        "The centre of gravity can be": "test_numbers_of_open_questions",
        "| semidefinite: margin |": "test_numbers_of_deep_separation",
        "| random: margin |": "test_numbers_of_deep_separation",
        "Theorem 4.4 leaves β": "test_numbers_of_deep_separation",
        "The two maps disagree.": "test_numbers_of_deep_separation",
    },
    "docs/notes/proof-costs.md": {
        "| cone | answer |": "test_numbers_of_proof_costs",
        "Over all ": "test_numbers_of_proof_costs",
    },
    "docs/notes/table-6-1.md": {"": "test_table_6_1_page"},
    "docs/optima.md": {
        "`plab run maxcut_optimum` runs on": "test_numbers_of_optima",
        "| solver | relative time |": "test_numbers_of_optima",
        "DSDP returned no answer": "test_numbers_of_optima",
        "`plab run sdplib_optimum` runs on": "test_numbers_of_optima",
        "`plab run maxcut_scaling` runs on": "test_numbers_of_optima",
    },
    "docs/papers/ellipsoids.md": {
        "| | 30 features |": "test_numbers_of_reuters",
        "**No ellipsoid separates any": "test_numbers_of_reuters",
        "- Compared with Clarabel, the limit": "test_numbers_of_reuters",
        "The rounding errors of Clarabel": "test_numbers_of_reuters",
        "These differences are means over": "test_numbers_of_reuters",
        "- Compared with the support vector machine": "test_numbers_of_reuters",
        "If several candidates differ": "test_numbers_of_reuters",
        "The thesis reports the best": "test_numbers_of_reuters",
        "The table lists cells that": "test_numbers_of_reuters",
        "Over all columns,": "test_numbers_of_reuters",
        "| cell | thesis |": "test_numbers_of_reuters",
        "The precision of the soft-margin": "test_numbers_of_reuters",
        "On the 64 categories": "test_numbers_of_reuters",
        "The hard ellipsoid is proved": "test_numbers_of_reuters",
        "The error of the ellipsoid is the same": "test_numbers_of_figure_7_4",
    },
    "docs/papers/margins.md": {
        "Two methods compute the largest": "test_numbers_of_margins",
        "`plab run margins` plots": "test_numbers_of_margins",
        "The bisections seek the directional": "test_numbers_of_augmentation",
        "`plab run augmentation` shows": "test_numbers_of_augmentation",
        "The paper says that the time of its bisection": "test_numbers_of_augmentation",
    },
    "docs/papers/maxcut.md": {
        "`make maxcut` (or `plab run maxcut`) repeats the experiment": "test_numbers_of_table_6_1",
        "On eight instances both": "test_numbers_of_table_6_1",
        "None of the 28 counts": "test_numbers_of_table_6_1",
        "Each of the 28 points": "test_numbers_of_table_6_1",
        "The 28 cells take": "test_numbers_of_table_6_1",
        "**Figure 6.1 is not reproduced.**": "test_numbers_of_verdicts_and_programs",
        "**EA does not outperform PRA completely": "test_numbers_of_verdicts_and_programs",
    },
    "docs/papers/mirror-prox.md": {
        "The table shows the time to a verified": "test_numbers_of_table_2",
        "| dimension x rows | MPLFP": "test_numbers_of_table_2",
        "Section 8 names sublinear time": "test_numbers_of_sublinear",
        "Section 8 also names incremental": "test_numbers_of_retraining",
        "**Generator.**": "test_numbers_of_table_2",
        "**Smoothed perceptron.**": "test_numbers_of_table_2",
        "**Iterated smoothed": "test_numbers_of_table_2",
        "**Our methods.**": "test_numbers_of_table_2",
        "**Half a million rows.**": "test_numbers_of_half_a_million_rows",
        "Figure 2 is only partly reproduced.": "test_numbers_of_kernel_and_conic",
        "Two observations differ.": "test_numbers_of_kernel_and_conic",
        "`plab run conic` compares": "test_numbers_of_kernel_and_conic",
    },
    "docs/papers/rescaling.md": {
        "A resisting oracle (`plab run": "test_numbers_of_rescaling",
        "Section 5.5 of the thesis names": "test_numbers_of_central_cuts",
        "Is case 1 of section 5.5 attained in": "test_numbers_of_central_cuts",
        "The feasible and infeasible systems": "test_numbers_of_rescaling",
        "`plab run postprocessing` starts": "test_numbers_of_rescaling",
        "`plab run margin_dependence` fits": "test_numbers_of_rescaling",
    },
    "docs/linear-programs.md": {
        "`plab run linear_programs` decides": "test_numbers_of_verdicts_and_programs"
    },
    "docs/no-solution.md": {
        "The clean programs": "test_numbers_of_infeasible_programs",
        "The messy programs": "test_numbers_of_infeasible_programs",
        "Of the others,": "test_numbers_of_infeasible_programs",
    },
    "docs/rows-in-parts.md": {
        "`plab run benchmarks/cluster` ([results": "test_numbers_of_rows_in_parts",
        "| rows | workers | passes |": "test_numbers_of_rows_in_parts",
        "The CPU seconds of all workers": "test_numbers_of_rows_in_parts",
        "The machine has two cores": "test_numbers_of_rows_in_parts",
        "No worker had more than": "test_numbers_of_rows_in_parts",
        "`sgd` needs one pass": "test_numbers_of_rows_in_parts",
        "| rows | passes of sgd |": "test_numbers_of_rows_in_parts",
        "For a billion rows of dimension": "test_numbers_of_rows_in_parts",
        "A pass over a billion": "test_numbers_of_rows_in_parts",
        "If workers read their own": "test_numbers_of_rows_in_parts",
    },
    "docs/separation.md": {
        "`plab run separation_verdicts` runs": "test_numbers_of_verdicts_and_programs"
    },
    "docs/which-algorithm.md": {
        "This benchmark has 48 instances": "test_numbers_of_tiny_margins",
        "`auto` proves infeasibility on all": "test_numbers_of_tiny_margins",
        "Data may be larger than memory": "test_numbers_of_out_of_core",
        "The cone benchmark has": "test_numbers_of_cones",
        "The table shows the time to a verified": "test_numbers_of_auto",
        "The second benchmark has labelled": "test_numbers_of_labelled",
        "The times are medians over": "test_numbers_of_labelled",
        "| labelled examples, dimension x rows": "test_numbers_of_labelled",
        "| separable rows, dimension x rows": "test_numbers_of_auto",
    },
}
"""The module that compares a paragraph's numbers with a sample; "" stands for a whole page."""

UNTIED: Listed = {
    "docs/papers/contents.md": {"": "generated, and compared in tests/docs/test_pages_from_code"},
    "README.md": {
        "**Every answer is verified": "0 is the origin",
        "Both need Python 3.11": "the version that is required",
        "[CITATION.cff]": "a year",
    },
    "docs/linear-programs.md": {
        "For `--conflict all`": "weights by definition",
        "- MPS files may": "fields of a format",
        "Every number of an MPS": "a convention of formats",
    },
    "docs/bibliography.md": {
        "| key | paper |": "years",
        "- A. Belloni": "volumes and years",
        "- N. J. Higham": "volumes and years",
        "- B. Borchers": "volumes and years",
    },
    "docs/command-line.md": {
        "| option | effect |": "values of columns",
        "Without labels there is": "values of columns",
        "| code | meaning |": "exit codes",
    },
    "docs/concepts.md": {
        "| your problem | the system |": "definitions",
        "Most algorithms do not": "a definition",
        "For example, the perceptron": "an example of a score",
        "If A w = 0": "an example of two rows",
        "For example, `--goal": "an example of a goal",
        "| status | meaning |": "a bound by definition",
        "| goal | the run ends when": "a definition",
    },
    "docs/experiments.md": {
        "The file is validated": "a version of YAML",
        "Local files can be": "a default",
        "Cells are keyed by": "the name of a hash",
        "When the time budget": "defaults",
        "`plab verify` loads the data": "the name of a hash",
        "A bound may differ": "a tolerance of the code",
        "`plab verify` writes only": "a default",
    },
    "docs/extending.md": {
        "`plugins: [mine.py]` in a configuration": "an exit code",
        "| command | what it runs |": "releases of Python",
    },
    "docs/faq.md": {
        "## My file holds decimals": "an example of a decimal",
        "Infeasibility could not be proved": "0 is the origin",
        "Only the files of SDPLIB": "the name of a hash",
        "- A column looks like class labels": "values of columns",
    },
    "docs/estimators.md": {"`fit` takes `sample_weight`": "a weight of 0"},
    "docs/separation.md": {
        "`--one-hot` creates a coefficient": "values of columns",
        "| family | response | further data": "values of responses",
        "`--weights` takes frequencies": "the weight that leaves a row out",
    },
    "docs/glossary.md": {
        "| term | meaning |": "definitions",
        "| of answers | meaning": "0 is the origin",
    },
    "docs/guarantees.md": {
        "| symbol | meaning |": "definitions",
        "| Perceptrons | updates": "formulas of theorems",
        "| Large margins | updates": "formulas of theorems",
        "| Nearest points of the hull | updates": "formulas of theorems",
        "| Smoothing | updates": "formulas of theorems",
        "| Saddle points | updates": "formulas of theorems",
        "| Rescaling, ellipsoids and other bodies | updates": "formulas of theorems",
        "| Interior points | updates": "formulas of theorems",
        "| Combinations | updates": "formulas of theorems",
    },
    "docs/installing.md": {
        "The table lists the size": "the name of a processor",
        "| package | version | MB |": "compared with installed files by tests/docs",
        "| command | before | now |": "CPU seconds of a machine; packages by tests/docs",
    },
    "docs/public.md": {
        "A deprecated name works": "version numbers",
        "| before | now |": "versions of formats",
    },
    "docs/notes/how-to-distrust-us.md": {
        "The certificates of `sample`": "the order of maxG11",
        "We also tested the checker": "counted by tests/exact/test_checker_mutants.py",
        "**(C15) Kernels.**": "formulas",
    },
    "docs/papers/ellipsoids.md": {
        "The separation ratio t is bounded": "what is proved, in formulas",
        "We compute hard ellipsoids": "a degree, and a case by definition",
    },
    "docs/papers/maxcut.md": {"`plab run sdplib` runs on all": "a number of vertices"},
    "docs/proofs.md": {
        "Each claim of an algorithm is verified": "the range of integers in a double",
        "| claim | verification |": "formulas, a citation and a constant of the code",
        "The existence proof for infeasibility": "0 is the origin",
    },
    "docs/reliability.md": {
        "| fault | number injected": "counts of the longest run of the tests that it names",
        "A cell costs": "seconds by the benchmark that it names",
    },
    "docs/what-to-report.md": {
        "This page is for statisticians": "a warning of R",
        "**Firth's penalised": "the name of a package",
        "> No relapse occurred": "a level of confidence",
        "Do not report the number": "a number that programs print",
        "- D. Firth": "volumes and years",
    },
    "docs/start.md": {"Python 3.11 or newer": "the version that is required"},
    "docs/which-algorithm.md": {
        "| your data | recommended |": "an option, and 1/margin",
        "The instances come from the generator": "a parameter",
    },
}
"""Why no sample can contradict a paragraph's numbers."""

ARGUMENTS = (
    *(f"docs/tutorial/{page}.md" for page in ("certificates", "cones", "experiment", "margins")),
    *("docs/tutorial.md", "docs/tutorial/your-own-algorithm.md"),
    *(f"docs/extending/{page}.md" for page in ("algorithm", "learner", "oracle")),
    "docs/notes/active-set.md",
    "docs/notes/eigenvalue-bounds.md",
    "docs/notes/existence-of-estimates.md",
    "docs/notes/existence/adjacent.md",
    "docs/notes/existence/binomial.md",
    "docs/notes/existence/conditional.md",
    "docs/notes/existence/counts.md",
    "docs/notes/existence/cox.md",
    "docs/notes/existence/log-binomial.md",
    "docs/notes/existence/multinomial.md",
    "docs/notes/existence/ordinal.md",
    "docs/notes/how-to-distrust-us.md",
    "docs/notes/infeasibility.md",
    "docs/notes/open-questions.md",
    "docs/notes/resisting-oracle.md",
    "docs/notes/rounding.md",
    "docs/notes/saddle-points.md",
    "docs/notes/saved-answers.md",
    "docs/no-solution.md",
)
"""Pages of definitions and proofs, whose digits are formulae: what they measure is listed above."""
