# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""XML as elements that know their line. Nothing outside of the file is read, and no entity is expanded.

The standard library's parser underneath keeps lines, which its ElementTree and defusedxml's do not; what defusedxml
refuses is refused here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from hocket.errors import InvalidInput

MOST_ELEMENTS = 1 << 20
DEEPEST = 256


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def each(self, *tags: str) -> Iterator[Element]:
        """The children of these tags, in order."""
        return (child for child in self.children if child.tag in tags)

    def walk(self) -> Iterator[Element]:
        """This element and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


class _Found(Exception):
    pass


def parse(source_name: str, data: bytes) -> Element:
    reader = _Reader(source_name)
    reader.feed(data)
    assert reader.root is not None  # else the file is not well-formed
    return reader.root


def root_tag(source_name: str, data: bytes) -> str:
    """The tag of the outermost element; the rest is not looked at."""
    reader = _Reader(source_name, root_only=True)
    try:
        reader.feed(data)
    except _Found:
        assert reader.root is not None
        return reader.root.tag
    raise AssertionError("a well-formed file has an element")


class _Reader:
    def __init__(self, source_name: str, root_only: bool = False) -> None:
        self.source_name = source_name
        self.root_only = root_only
        self.root: Element | None = None
        self.open: list[Element] = []
        self.elements = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity

    def feed(self, data: bytes) -> None:
        try:
            self.parser.Parse(data, True)
        except expat.ExpatError as error:
            raise InvalidInput(
                f"{self.source_name}:{error.lineno}: not XML: {expat.ErrorString(error.code)}",
                "the file may be cut off or damaged",
            ) from error
        except (LookupError, ValueError) as error:  # an encoding that Python does not have
            self._refuse(f"not XML: {error}", "save it as UTF-8")

    def _refuse(self, what: str, hint: str) -> NoReturn:
        raise InvalidInput(f"{self.source_name}:{self.parser.CurrentLineNumber}: {what}", hint)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            self._refuse(f"more than {MOST_ELEMENTS} XML elements", "import a part of it")
        if len(self.open) >= DEEPEST:
            self._refuse(f"XML elements are nested more than {DEEPEST} deep", "no platform and no machine is that deep")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
            if self.root_only:
                raise _Found
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        self.open[-1].text += text

    def _entity(self, *declaration: object) -> None:
        self._refuse("the XML declares an entity, which is not expanded", "write its text where it is used")
