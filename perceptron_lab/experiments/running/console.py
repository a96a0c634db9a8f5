"""The console of tables and of progress, whose text is made visible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from perceptron_lab.core.visible_text import visible


class VisibleConsole(Console):
    """A console of rich that obeys only what rich itself wants of the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a string as rich's text, visible before its width counts."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield segments; the text of all but rich's own controls is visible."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)
