"""``python -m perceptron_lab`` is ``plab``."""

import sys

from perceptron_lab.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
