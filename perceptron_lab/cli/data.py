"""``plab data``: download and verify the data files of the registered collections."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Final

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import answer_options, completing
from perceptron_lab.datasets.collections.verification import verify_data
from perceptron_lab.datasets.download.fetching import FileState, fetching
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, collection

_MENDS: Final = {
    FileState.WRONG_HASH: (
        "`plab data fetch` replaces a damaged download; replace a mirror's file yourself"
    ),
    FileState.ALTERED: (
        "delete counts-*.npz in the folder of the data (PLAB_DATA_DIR); runs that used them are "
        "found by `plab verify`"
    ),
}


_collection = click.argument(
    "collection_name",
    metavar="[COLLECTION]",
    required=False,
    shell_complete=completing(lambda context: COLLECTIONS),
)


def _other_files(context: click.Context) -> list[str]:
    """Return the files of the chosen collection that are not yet on the command line."""
    name, named = context.params.get("collection_name"), context.params.get("names") or ()
    # While a shell completes words the name may be wrong
    files = collection(name).files if name in COLLECTIONS else ()
    return [file for file in files if file not in named]


@click.group("data")
def data() -> None:
    """Download data files and check their hashes.

    PLAB_DATA_MIRROR is a folder or an http(s) address where <collection>/<file> is looked up first.
    PLAB_DATA_DIR is the folder for downloads (by default data/ in a clone of the project, otherwise
    the user's cache folder). PLAB_OFFLINE=1 forbids downloads.
    """


@data.command("fetch")
@_collection
@click.argument("names", metavar="[NAMES]...", nargs=-1, shell_complete=completing(_other_files))
@answer_options(": an object file -> path")
def fetch_command(collection_name: str | None, names: tuple[str, ...], as_json: bool) -> None:
    """Download data files and check their sha256 hashes.

    Without NAMES the whole collection is downloaded; without COLLECTION, all collections. Files
    that are already on this machine are not downloaded again.
    """
    paths = {}
    for name, path in fetching(collection_name, names):
        paths[name] = str(path)
        if not as_json:
            echo(f"{name}: {path}")
    if as_json:
        print_json(paths)


@data.command("verify")
@_collection
@answer_options(": an object collection -> file -> state")
def verify_command(collection_name: str | None, as_json: bool) -> None:
    """Check the sha256 hashes of the data files on this machine.

    Saved word counts are computed again if all their files are present. The exit code is 1 if the
    hash of a file or a saved count differs. Missing files are reported, but are no error.
    """
    states_found: set[FileState] = set()
    states_by_source = verify_data(collection_name)
    for source, states in states_by_source.items():
        states_found |= set(states.values())
        if as_json:
            continue
        for name, state in states.items():
            echo(f"{source}/{name}: {state}")
        count = Counter(states.values())
        listed = [state for state in FileState if count[state] or state is not FileState.ALTERED]
        echo(f"{source}: " + ", ".join(f"{count[state]} {state}" for state in listed))
    if as_json:
        print_json(states_by_source)
    remedies = [remedy for state, remedy in _MENDS.items() if state in states_found]
    # On stderr, so that they may follow JSON too
    for line in remedies:
        echo(line, err=True)
    if remedies:
        sys.exit(1)
