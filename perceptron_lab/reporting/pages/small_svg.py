"""Matplotlib's SVG made small for a page: a tenth of the bytes, the same picture to 0.05 points.

Matplotlib writes a group, an identifier and a style for every line, coordinates with six decimals,
and repeats the names of a dozen fonts in every text. Here coordinates are relative, in tenths of a
point; styles are classes; marks of one kind are one path; and identifiers are unique on the page.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_TOKEN = re.compile(r"[A-Za-z]|-?[0-9.]+(?:e-?[0-9]+)?")
_LENGTHS = {"M": 1, "L": 1, "Q": 2, "C": 3}
_ROTATED = re.compile(r"rotate\((-?[0-9.]+) [-0-9. e]+\)")
_FONTS = re.compile(r"(font(?:-family)?: ?)([^;']*)'[^;]*")
_PIXELS = 1.5  # per point; on screens a figure is somewhat larger than in print
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def small_svg(svg: str, key: str, alternative: str) -> str:
    """Return the SVG that matplotlib wrote, with texts as text, as an element of a page.

    Parameters
    ----------
    svg
        A file of matplotlib, written with ``svg.fonttype: none``.
    key
        Names the figure among those of the page; its identifiers derive from it.
    alternative
        Says in words what the figure shows.
    """
    root = ElementTree.fromstring(svg)
    name = f"f{zlib.crc32(key.encode()):08x}"
    drawing = _Drawing(name, {one.attrib["id"]: one for one in root.iter() if "id" in one.attrib})
    body = "".join(drawing.elements(root))
    width, height = (round(float(one)) for one in root.attrib["viewBox"].split()[2:])
    size = f'width="{round(_PIXELS * width)}" height="{round(_PIXELS * height)}"'
    styles = "".join(f".{one}{{{style}}}" for style, one in drawing.classes.items())
    return (
        f'<svg id="{name}" viewBox="0 0 {width} {height}" {size} '
        f'role="img" aria-label="{escape(alternative)}"><style>#{name}{{{styles}}}</style>'
        f"<defs>{''.join(drawing.shared.values())}</defs>{body}</svg>"
    )


@dataclass
class _Drawing:
    """A figure: its styles by class, its clips and markers, and their identifiers on the page."""

    name: str
    known: dict[str, Element]
    classes: dict[str, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def elements(self, parent: Element) -> Iterator[str]:
        """Yield the children in the order in which they are drawn."""
        for child in parent:
            kind = child.tag.removeprefix(_SVG)
            if kind == "g" and "transform" not in child.attrib:
                if child.attrib.get("id", "").startswith("matplotlib.axis"):
                    yield from self._axis(child)
                else:
                    yield from self.elements(child)
            elif kind == "g":
                inner = "".join(self.elements(child))
                yield f'<g transform="{_rounded(child.attrib["transform"])}">{inner}</g>'
            elif kind == "path":
                yield self._path(child, relative_path(child.attrib["d"]))
            elif kind == "use":
                yield self._used(child)
            elif kind == "text":
                yield self._text(child)
            elif kind == "image":
                yield self._image(child)

    def _axis(self, axis: Element) -> Iterator[str]:
        """Yield rules, ticks and labels of an axis, which do not lie upon one another."""
        lines: dict[str, list[str]] = {}
        texts = []
        for child in axis.iter():
            kind = child.tag.removeprefix(_SVG)
            if kind == "text":
                texts.append(child)
            elif kind == "use":
                mark = self.known[child.attrib[_HREF][1:]]
                place = float(child.attrib["x"]), float(child.attrib["y"])
                lines.setdefault(self._class(child), []).append(
                    relative_path(mark.attrib["d"], place)
                )
            elif kind == "path" and "id" not in child.attrib:
                lines.setdefault(self._class(child), []).append(relative_path(child.attrib["d"]))
        yield from (f'<path class="{one}" d="{"".join(paths)}"/>' for one, paths in lines.items())
        parents = {child: parent for parent in axis.iter() for child in parent}
        for text in texts:
            moved = parents[text].attrib.get("transform")
            if moved is None:
                yield self._text(text)
            else:
                yield f'<g transform="{_rounded(moved)}">{self._text(text)}</g>'

    def _image(self, image: Element) -> str:
        """Return pixels, which matplotlib embeds."""
        kept = {name.rpartition("}")[2]: value for name, value in image.attrib.items()}
        kept = {name: value for name, value in kept.items() if name not in ("id", "clip-path")}
        return "<image " + " ".join(f'{name}="{value}"' for name, value in kept.items()) + "/>"

    def _path(self, path: Element, drawn: str) -> str:
        return f'<path class="{self._class(path)}" d="{drawn}"/>' if drawn else ""

    def _used(self, use: Element) -> str:
        """Return a marker at its place; markers are drawn once."""
        target = use.attrib[_HREF][1:]
        mark = self._named(target)
        if target not in self.shared:
            drawn = relative_path(self.known[target].attrib["d"])
            self.shared[target] = f'<path id="{mark}" d="{drawn}"/>'
        x, y = (_tenths(float(use.attrib[one])) for one in ("x", "y"))
        place = "".join(f' {one}="{value}"' for one, value in (("x", x), ("y", y)) if value != "0")
        return f'<use class="{self._class(use)}" href="#{mark}"{place}/>'

    def _text(self, text: Element) -> str:
        attributes = [f'class="{self._class(text)}"']
        for one in ("x", "y"):
            if one in text.attrib:
                attributes.append(f'{one}="{_tenths(float(text.attrib[one]))}"')
        moved = text.attrib.get("transform", "")
        turned = _ROTATED.fullmatch(moved)
        if moved and (turned is None or float(turned[1])):
            attributes.append(f'transform="{_rounded(moved)}"')
        inner = escape(text.text or "", quote=False).strip()
        return f"<text {' '.join(attributes)}>{inner}{self._spans(text)}</text>"

    def _spans(self, text: Element) -> str:
        """Return the parts of a formula; letters of one height and style stand together."""
        parts: list[tuple[str, str, str, str]] = []
        for span in text.iter(f"{_SVG}tspan"):
            x, y = (span.attrib[one].split()[0] for one in ("x", "y"))
            style = self._class(span)
            if parts and parts[-1][1:3] == (y, style):
                parts[-1] = (*parts[-1][:3], parts[-1][3] + (span.text or ""))
            else:
                parts.append((x, y, style, span.text or ""))
        return "".join(
            f'<tspan class="{style}" x="{_tenths(float(x))}" y="{_tenths(float(y))}">'
            f"{escape(letters, quote=False)}</tspan>"
            for x, y, style, letters in parts
        )

    def _class(self, element: Element) -> str:
        """Return the class of an element's style, and that of its clip."""
        style = _FONTS.sub(r"\1\2sans-serif", element.attrib.get("style", ""))
        found = [style.replace(": ", ":").replace("; ", ";")]
        clip = element.attrib.get("clip-path", "")
        if clip:
            found.append(f"clip-path:url(#{self._clip(clip[5:-1])})")
        return " ".join(map(self._one_class, found))

    def _one_class(self, style: str) -> str:
        if style not in self.classes:
            number = len(self.classes)
            more = _LETTERS[number // 26 - 1] if number >= 26 else ""
            self.classes[style] = more + _LETTERS[number % 26]
        return self.classes[style]

    def _named(self, target: str) -> str:
        """Return the identifier on the page of what has another one in the file."""
        return self.names.setdefault(target, f"{self.name}{len(self.names)}")

    def _clip(self, target: str) -> str:
        clip = self._named(target)
        if target not in self.shared:
            sizes = self.known[target][0].attrib
            kept = {one: sizes[one] for one in ("x", "y", "width", "height") if one in sizes}
            shape = " ".join(f'{one}="{_tenths(float(value))}"' for one, value in kept.items())
            inner = f"<rect {shape}/>" if kept else f'<path d="{relative_path(sizes["d"])}"/>'
            self.shared[target] = f'<clipPath id="{clip}">{inner}</clipPath>'
        return clip


def relative_path(path: str, start: tuple[float, float] = (0.0, 0.0)) -> str:
    """Return a path that starts elsewhere, with relative coordinates in tenths.

    Rounding errors do not add up, and points on a horizontal or vertical line are left out.

    Examples
    --------
    >>> relative_path("M 1 2 L 3.04 2 L 9 2 L 9 4 z", (10.0, 0.0))
    'M11 2h8v2z'
    """
    drawn: list[str] = []
    at = [0, 0]
    straight = ""
    for command, numbers in _commands(path):
        if command in "Zz":
            drawn.append("z")
            straight = ""
            continue
        ends = [round(10.0 * (n + start[i % 2])) for i, n in enumerate(numbers)]
        steps = [end - at[i % 2] for i, end in enumerate(ends)]
        at = ends[-2:]
        if command == "M":
            drawn.append("M" + _joined(ends))
            straight = ""
        elif command == "L":
            way = "h" if not steps[1] else "v" if not steps[0] else ""
            step = steps[0] if way == "h" else steps[1]
            if not any(steps):
                continue
            if way and straight == f"{way}{step > 0}":
                step += round(10.0 * float(drawn.pop()[1:]))
            drawn.append(way + _joined([step]) if way else "l" + _joined(steps))
            straight = f"{way}{step > 0}" if way else ""
        else:
            drawn.append(command.lower() + _joined(steps))
            straight = ""
    return "".join(drawn)


def _commands(path: str) -> Iterator[tuple[str, list[float]]]:
    tokens = _TOKEN.findall(path)
    place = 0
    while place < len(tokens):
        command = tokens[place]
        length = 2 * _LENGTHS.get(command, 0)
        yield command, [float(one) for one in tokens[place + 1 : place + 1 + length]]
        place += 1 + length


def _joined(tenths: Iterable[int]) -> str:
    """Return numbers in tenths, with blanks where they would run together."""
    text = ""
    for number in tenths:
        one = _text(number)
        text += one if not text or one.startswith("-") else f" {one}"
    return text


def _tenths(number: float) -> str:
    return _text(round(10.0 * number))


def _text(tenths: int) -> str:
    """Return a number of tenths: 12 -> 1.2, -3 -> -.3, 40 -> 4."""
    whole, rest = divmod(abs(tenths), 10)
    digits = f"{whole or ''}.{rest}" if rest else str(whole)
    return f"-{digits}" if tenths < 0 else digits


def _rounded(transform: str) -> str:
    return re.sub(r"-?[0-9]+\.[0-9]+", lambda found: _tenths(float(found[0])), transform)
