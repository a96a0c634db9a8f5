"""The version of the package, here so that no module imports the package itself for it."""

from typing import Final

__version__: Final = "0.1.0"
