"""Which document a foreign retriever means by the name that it gives its source. It reads no texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from docmind.text import nfc
from docmind.types import Document

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*|file:")
_BEHIND = re.compile(r"[?#].*", re.DOTALL)


class Names:
    """The documents by id, by address, and by what their ids end like."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._by_id: dict[str, Document] = {}
        self._by_url: defaultdict[str, list[Document]] = defaultdict(list)
        self._by_end: defaultdict[str, list[Document]] = defaultdict(list)
        for document in documents:
            self._by_id[nfc(document.id)] = document
            if document.url:
                self._by_url[_address(document.url)].append(document)
            for end in _ends(nfc(document.id).split("/")):
                self._by_end[end].append(document)
        self._deepest = max((doc_id.count("/") + 1 for doc_id in self._by_id), default=0)

    def document(self, source: str) -> Document | None:
        """The document that `source` names: by its id or its address; by a path that ends with its id; or by the end of its id,
        where no other ends so. Each as it stands, without percent-encoding, and without what follows a "#" or "?". None
        where it names none, or might name several."""
        name = nfc(source)
        if found := self._by_id.get(name):
            return found
        for spelt in dict.fromkeys((name, unquote(name), _BEHIND.sub("", name), unquote(_BEHIND.sub("", name)))):
            addressed = self._by_url.get(_address(spelt), [])
            if len(addressed) == 1:
                return addressed[0]
            if found := self._by_path(nfc(spelt)):
                return found
        return None

    def _by_path(self, name: str) -> Document | None:
        path = _SCHEME.sub("", name, count=1).replace("\\", "/")
        names = [part for part in path.split("/") if part not in ("", ".")]
        for end in _ends(names[-self._deepest :]):
            if found := self._by_id.get(end):
                return found
        like = self._by_end.get("/".join(names), [])
        return like[0] if len(like) == 1 else None


def _ends(names: list[str]) -> Iterator[str]:
    """The paths that end like one, itself first."""
    return ("/".join(names[first:]) for first in range(len(names)))


def _address(url: str) -> str:
    return nfc(url).rstrip("/")
