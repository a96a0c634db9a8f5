"""The data files of one collection or of all: made available, or compared with their sha256."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from perceptron_lab.datasets.download.fetching import State, fetch, verify
from perceptron_lab.datasets.download.files import COLLECTIONS, collection


def fetch_data(collection_name: str | None = None, names: Sequence[str] = ()) -> dict[str, Path]:
    """Make data files available on this machine, verified by their sha256; ``plab data fetch``.

    Parameters
    ----------
    collection_name
        A collection; None for every one.
    names
        Files of it; by default all. Files that are there already are not fetched again.

    Returns
    -------
    dict
        ``collection/name`` -> where the file is.

    Raises
    ------
    ConfigError
        If a name is unknown; nothing was fetched then.
    DataError
        If a file cannot be had.
    """
    return dict(fetching(collection_name, names))


def fetching(
    collection_name: str | None = None, names: Sequence[str] = ()
) -> Iterator[tuple[str, Path]]:
    """Yield ``collection/name`` and where the file is, one after the other as they come.

    Parameters and errors are those of :func:`fetch_data`.
    """
    chosen = {
        source: tuple(names) or tuple(collection(source).files)
        for source in _chosen(collection_name)
    }
    for source, wanted in chosen.items():
        for name in wanted:
            collection(source).file(name)  # all names are checked before the first download
    for source, wanted in chosen.items():
        for name in wanted:
            yield f"{source}/{name}", fetch(source, name)


def verify_data(collection_name: str | None = None) -> dict[str, dict[str, State]]:
    """Compare the data files on this machine with their registered sha256; ``plab data verify``.

    What is kept of them, the counts of words in Reuters-21578, is computed again where all files
    are there, and compared: entries ``counts-TEXT``, ``present`` or ``not what the files give``.

    Parameters
    ----------
    collection_name
        A collection; None for every one.

    Returns
    -------
    dict
        Collection -> name -> ``present``, ``missing`` or ``wrong hash``.

    Raises
    ------
    ConfigError
        If there is no such collection.
    """
    return {source: _states(source) for source in _chosen(collection_name)}


def _states(source: str) -> dict[str, State]:
    states = dict(verify(source))
    if source != "reuters21578" or set(states.values()) != {State.PRESENT}:
        return states
    # Imported here: comparing files needs no numerical code.
    from perceptron_lab.datasets.collections.reuters_corpus import counted_again

    again = counted_again()
    kept = {True: State.PRESENT, False: State.ALTERED}
    return states | {f"counts-{text}": kept[same] for text, same in again.items()}


def _chosen(collection_name: str | None) -> list[str]:
    if collection_name is None:
        return list(COLLECTIONS)
    return [collection(collection_name).name]
