"""Saved verdicts on two classes, proved again on the files that they are of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.regular_files import sha256_of
from perceptron_lab.errors import BROKEN, DataError, MissingDataError, PlabError
from perceptron_lab.experiments.running.privacy import resolved
from perceptron_lab.experiments.verdict_answers import labelled_file
from perceptron_lab.experiments.verification.verified import Verdict, Verified
from perceptron_lab.verdicts.kept_proofs import ProofError
from perceptron_lab.verdicts.saved_verdicts import SavedVerdict, read_verdict

LABEL = "separation"
"""In the place of a method's label."""


def is_verdict(path: Path) -> bool:
    """Return whether a file is one that ``plab solve --verdict --save`` writes, as far as known."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            record = json.loads(str(arrays["json"]))
        return isinstance(record, dict) and {"verdict", "classes"} <= record.keys()
    except BROKEN:
        return False


def on_verdict(path: Path, base: Path | None = None) -> Verified:
    """Return whether the verdict in a file is proved on its data.

    Parameters
    ----------
    path
        Of the file.
    base
        The folder of its data; by default the one stored.
    """
    seen = Verified(path.stem, "", LABEL, "", Verdict.DAMAGED)
    try:
        saved = read_verdict(path)
        source = saved.record["source"]
        seen = replace(seen, status=str(saved.record["verdict"]))
        if source is None:
            raise DataError(
                f"{path}: it does not say which file it is of; SeparationVerdict.load proves it on "
                "examples, and `plab solve FILE --verdict --save` says it"
            )
        file, columns = data_of_verdict(source, path, base)
        return _on_data(replace(seen, problem=file.name), saved, file, columns)
    except (PlabError, OSError) as error:
        return replace(seen, message=str(error))


def data_of_verdict(source: Any, path: Path, base: Path | None) -> tuple[Path, Columns]:
    """Return the file that a verdict is of, and what was asked of its columns."""
    try:
        folder = resolved(source["base"], path.parent) if base is None else base
        texts = [source[name] for name in ("file", "sha256")]
        if not all(isinstance(one, str) for one in texts):
            raise TypeError("a name or a sha256 is no text")
        return folder / source["file"], Columns(**source["columns"])
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: it does not say which file it is of ({error})") from None


def _on_data(seen: Verified, saved: SavedVerdict, file: Path, columns: Columns) -> Verified:
    """Prove a verdict on its file."""
    if not file.is_file():
        mend = "if the data have moved, name the folder that they are in: --base DIR"
        return replace(seen, verdict=Verdict.MISSING, message=f"{file}: no such file; {mend}")
    claimed, now = saved.record["source"]["sha256"], sha256_of(file)
    if now != claimed:
        text = f"sha256 {now[:16]}..., the claims are of {claimed[:16]}..."
        return replace(seen, verdict=Verdict.DATA_CHANGED, message=text)
    if not saved.proof and saved.record["proved"] is False:
        return replace(seen, verdict=Verdict.NOTHING_CLAIMED)
    try:
        saved.proved_on(labelled_file(file, columns)[0])
    except ProofError as error:
        return replace(seen, verdict=Verdict.NOT_PROVED, message=str(error))
    except MissingDataError as error:
        return replace(seen, verdict=Verdict.MISSING, message=str(error))
    return replace(seen, verdict=Verdict.PROVED)
