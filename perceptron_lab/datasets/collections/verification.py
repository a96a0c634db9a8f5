"""Verify the data files on this machine, and the saved counts of their words.

A separate module, so that the readers of one collection do not import those of the others.
"""

from __future__ import annotations

from perceptron_lab.datasets.download.fetching import FileState, chosen_collections, verify

_COUNTED = "reuters21578"


def verify_data(collection_name: str | None = None) -> dict[str, dict[str, FileState]]:
    """Compare the data files on this machine with their registered sha256; ``plab data verify``.

    The counts of words in Reuters-21578 that are kept are computed again where all files are there,
    and compared: entries ``counts-TEXT``, ``present`` or ``not what the files give``.

    Parameters
    ----------
    collection_name
        A collection, else a ``ConfigError``; None for every one.

    Returns
    -------
    dict
        Collection -> name -> ``present``, ``missing`` or ``wrong hash``.

    Examples
    --------
    >>> sorted(verify_data("sdplib"))
    ['sdplib']
    """
    states = {source: dict(verify(source)) for source in chosen_collections(collection_name)}
    if set(states.get(_COUNTED, {}).values()) == {FileState.PRESENT}:
        # Imported here: comparing files needs no numerical code.
        from perceptron_lab.datasets.collections.reuters_corpus import counted_again

        for text, same in counted_again().items():
            states[_COUNTED][f"counts-{text}"] = FileState.PRESENT if same else FileState.ALTERED
    return states
