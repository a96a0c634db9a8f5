"""``plab data``: fetch and verify the data files of the registered collections."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Final

import click
from click.shell_completion import CompletionItem

from perceptron_lab.cli.echo import echo
from perceptron_lab.datasets.collections.verification import verify_data
from perceptron_lab.datasets.download.fetching import State, fetching
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, collection

_MENDS: Final = {
    State.WRONG_HASH: (
        "`plab data fetch` replaces a damaged download; replace a mirror's file yourself"
    ),
    State.ALTERED: (
        "delete counts-*.npz in the folder of the data (PLAB_DATA_DIR); runs that used them are "
        "found by `plab verify`"
    ),
}


def _complete_collection(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a collection."""
    return [CompletionItem(name) for name in COLLECTIONS if name.startswith(incomplete)]


def _complete_file(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a file of the collection that is given."""
    name = context.params.get("collection_name")
    files = collection(name).files if name in COLLECTIONS else ()
    given = context.params.get("names") or ()
    return [CompletionItem(one) for one in files if one.startswith(incomplete) and one not in given]


@click.group("data")
def data() -> None:
    """Fetch and verify data files.

    PLAB_DATA_MIRROR names a folder or an http(s) address with <collection>/<file> that is asked
    first; PLAB_DATA_DIR is where downloads go (by default data/ in a clone of the project, else
    the user's cache folder); PLAB_OFFLINE=1 forbids downloads.
    """


@data.command("fetch")
@click.argument(
    "collection_name", metavar="[COLLECTION]", required=False, shell_complete=_complete_collection
)
@click.argument("names", metavar="[NAMES]...", nargs=-1, shell_complete=_complete_file)
def fetch_command(collection_name: str | None, names: tuple[str, ...]) -> None:
    """Make data files available on this machine, verified by their sha256.

    Without NAMES the whole collection, without COLLECTION every collection. Files that are there
    already are not fetched again.
    """
    for name, path in fetching(collection_name, names):
        echo(f"{name}: {path}")


@data.command("verify")
@click.argument(
    "collection_name", metavar="[COLLECTION]", required=False, shell_complete=_complete_collection
)
def verify_command(collection_name: str | None) -> None:
    """Compare the data files on this machine with their registered sha256.

    Counts of words that are kept are computed again from the files, if all are there. Exit code 1
    if a file that is there has another sha256, or other counts are kept; missing files are no
    fault.
    """
    wrong: set[State] = set()
    for source, states in verify_data(collection_name).items():
        for name, state in states.items():
            echo(f"{source}/{name}: {state}")
        count = Counter(states.values())
        said = [state for state in State if count[state] or state is not State.ALTERED]
        echo(f"{source}: " + ", ".join(f"{count[state]} {state}" for state in said))
        wrong |= set(states.values())
    mends = [mend for state, mend in _MENDS.items() if state in wrong]
    for mend in mends:
        echo(mend, err=True)
    if mends:
        sys.exit(1)
