"""
The resisting oracle
====================

How many mistakes can nobody avoid? A resisting oracle has no data in mind: it makes up its
constraints while an algorithm asks, each against the point just given, and still keeps a margin
in the end. So every algorithm is forced to make a number of mistakes that a theorem states.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt

import perceptron_lab as lab

results = lab.run(
    {
        "experiment": "resisting_example",
        "title": "Mistakes that are forced, and mistakes made",
        "problems": [
            {
                "dataset": "resisting",
                "dimension": 8,
                "grid": {"margin": [0.3, 0.1, 0.03, 0.01, 0.003]},
            }
        ],
        "algorithms": [{"name": n} for n in ("perceptron", "ellipsoid", "space-dilation", "auto")],
        "budget": {"updates": 20_000, "seconds": 5},
    },
    output=Path(mkdtemp(prefix="resisting-")),
)
frame = results.to_frame()
columns = ["problem.margin", "label", "status", "measure.mistakes", "measure.forced"]
print(frame[columns].to_string(index=False))

# %%
# The black line is what the oracle can force; no curve goes below it. The perceptron pays for
# the margin squared, the others are within a factor of the line.

for label, rows in frame[frame["proved"]].groupby("label"):
    plt.loglog(rows["problem.margin"], rows["measure.mistakes"], marker="o", label=label)
forced = frame.groupby("problem.margin")["measure.forced"].first()
plt.loglog(forced.index, forced, "k-", lw=2, label="forced")
plt.gca().invert_xaxis()
plt.xlabel("margin")
plt.ylabel("mistakes")
plt.legend()
plt.show()

# %%
# The answers are proved on the rows that were fixed in the end.

done = frame[frame["proved"]]
assert (done["measure.mistakes"] >= done["measure.forced"]).all()
print(lab.verify(results.folder).counts)
