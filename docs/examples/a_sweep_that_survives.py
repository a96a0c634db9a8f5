"""
A sweep that survives
=====================

An experiment is a mapping, or a YAML file. Each of its cells has a process of its own, and its
row is on the disk before the next one is looked at. So whatever ends a run, the next one goes on
from there: here ``kill -9``.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt

import perceptron_lab as lab
from perceptron_lab.core.errors import DataError

folder = Path(mkdtemp(prefix="sweep-"))
experiment = {
    "experiment": "survivor",
    "title": "Updates against the margin",
    "problems": [
        {
            "dataset": "margin-sets",
            "family": "exact",
            "dimension": 20,
            "rows": 500,
            "grid": {"margin": [0.1, 0.05, 0.02]},
        }
    ],
    "algorithms": [{"name": "perceptron"}, {"name": "von-neumann"}, {"name": "mirror-prox"}],
    "budget": {"updates": 200_000, "seconds": 20},
    "seeds": [0, 1],
}
config = folder / "survivor.yaml"
config.write_text(json.dumps(experiment))  # JSON is YAML

# %%
# Start it from the command line, and kill it once some rows are stored.

command = [sys.executable, "-m", "perceptron_lab", "run", str(config), "--output", str(folder)]
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stored():
    """Return the names of the cells that are done."""
    try:
        cells = lab.status(folder / "survivor").cells
    except DataError:
        return []  # there is no store yet
    return [one.cell for one in cells if one.state.value == "done"]


while process.poll() is None and len(stored()) < 5:
    time.sleep(0.05)
process.kill()
process.wait()
before = stored()
print(f"killed with {len(before)} rows stored")

# %%
# The same experiment again: what is there is not computed twice.

results = lab.run(str(config), output=folder)
print(f"{len(results.rows)} rows, {len(results.failed)} failed")
assert set(before) <= {row["cell"] for row in results.rows}

# %%
# Which algorithm pays for a thin margin, and how much?

frame = results.to_frame()
for label, rows in frame.groupby("label"):
    medians = rows.groupby("problem.margin")["updates"].median()
    plt.loglog(medians.index, medians, marker="o", label=label)
plt.xlabel("margin")
plt.ylabel("updates or iterations")
plt.legend()
plt.show()

# %%
# Every answer is proved again from what is stored, without running any algorithm.

checked = lab.verify(results.folder)
print(checked.counts)
assert set(checked.counts) == {"PROVED"}
