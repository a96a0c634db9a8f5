"""
Checking us without us
======================

Do not trust this package. ``certify`` turns answers into exact certificates, and
``plab_check.py``, one file of plain Python, checks them in whole numbers without a line of the
package.
"""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np

import perceptron_lab as lab

folder = Path(mkdtemp(prefix="certified-"))
results = lab.run(
    {
        "experiment": "to_be_checked",
        "problems": [
            {
                "dataset": "margin-sets",
                "family": "exact",
                "dimension": 5,
                "rows": 60,
                "margin": 0.05,
            },
            {"dataset": "margin-sets", "family": "convex-combination", "dimension": 5, "rows": 60},
        ],
        "algorithms": [{"name": "auto"}],
    },
    output=folder,
)
print(results.to_frame()[["problem", "status", "proved"]].to_string(index=False))

# %%
# A certificate holds whole numbers and the hash of the data.

certified = lab.certify(results.folder, folder / "proofs")
print(certified.counts)
for cell in certified.cells:
    print(cell.status, cell.claims, f"{Path(cell.path).stat().st_size} bytes")

# %%
# The checker is another program. It is started with ``-I``, so that it cannot even find the
# package.

package = Path(lab.__file__).parent  # an installed package brings its checker, a checkout has it
places = (folder / "checker" / "plab_check.py" for folder in (package, package.parent))
checker = next(place for place in places if place.is_file())


def check(certificate, data):
    """Return exit code and words of the checker."""
    command = [sys.executable, "-I", str(checker), str(certificate), str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


for cell in certified.cells:
    code, words = check(cell.path, cell.data)
    print(code, words)
    assert code == 0

# %%
# And if somebody lies? Let the certificate of the first cell claim twice its margin.

first = certified.cells[0]
lie = json.loads(Path(first.path).read_text())
for claim in lie["claims"]:
    if claim["claim"] == "margin at least":
        claim["bound"][0] *= 2
forged = folder / "forged.json"
forged.write_text(json.dumps(lie))
code, words = check(forged, first.data)
print(code, words)
assert code == 1

# %%
# Nor is the checker needed. The point of the honest certificate is a list of whole numbers; its
# scores on the data, each entry the fraction that it is, are positive.

claims = json.loads(Path(first.path).read_text())["claims"]
claim = next(one for one in claims if one["claim"] == "feasible")
rows = np.load(first.data)
scores = [
    sum(Fraction(entry) * whole for entry, whole in zip(row, claim["point"], strict=True))
    for row in rows.tolist()
]
print("point", claim["point"], "| lowest score", min(scores))
assert min(scores) > 0

plt.plot(sorted(float(score) for score in scores), "o", ms=4)
plt.axhline(0.0, color="k", lw=0.8)
plt.xlabel("constraint")
plt.ylabel("score of the certified point")
plt.show()
