"""HiGHS, which prints nothing."""

from __future__ import annotations

from typing import Any

import highspy


class QuietHighs(highspy.Highs):
    """A solver of HiGHS without output.

    Release 1.16 prints its name while a solver is made, before an option can be set: the console is
    closed in the middle of its construction.
    """

    def enableCallbacks(self) -> Any:
        """Close the console, then do what the constructor asks for."""
        self.setOptionValue("log_to_console", False)
        return super().enableCallbacks()  # type: ignore[no-untyped-call]
