"""The text of a PDF's pages, taken out in a process of its own. It knows no Documents and imports nothing of DocMind.

    python pdftext.py FILE PAGES CHARACTERS BYTES

prints a JSON object: `title` and `pages`, or `refused`, the rest of a sentence that begins with the file's name. A file
can make PDFium take any time and memory, or end its process; so whoever starts this one limits its time, BYTES limits
its memory where the system can do that, and the other two limit what is read.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pypdfium2


class RefusedError(Exception):
    """Why the file is not read."""


def text(path: str, most_pages: int, most_characters: int) -> dict[str, Any]:
    """The title, "" where none is set, and each page's text as PDFium gives it. Raises RefusedError."""
    import pypdfium2
    from pypdfium2 import raw

    told = {
        raw.FPDF_ERR_PASSWORD: "is locked with a password. Save it without one.",
        raw.FPDF_ERR_SECURITY: "is locked in a way that is not known here. Save it without protection.",
    }
    try:
        document = pypdfium2.PdfDocument(path)  # with no password, which opens what is locked with an empty one
    except pypdfium2.PdfiumError as error:
        raise RefusedError(told.get(error.err_code, "is damaged or cut off. Save or download it again.")) from error
    if not len(document):
        raise RefusedError("has no pages. Save or download it again.")
    if len(document) > most_pages:
        raise RefusedError(f"has {len(document):,} pages; it may have {most_pages:,}. Split it.")
    pages: list[str] = []
    left = most_characters
    for number in range(len(document)):
        try:
            page = _text(document[number].get_textpage())
        except pypdfium2.PdfiumError as error:
            raise RefusedError(f"is damaged at page {number + 1}. Save or download it again.") from error
        left -= len(page)
        if left < 0:
            raise RefusedError(f"holds more than {most_characters:,} characters, at page {number + 1}. Split it.")
        pages.append(page)
    return {"title": _title(document), "pages": pages}


def _text(page: pypdfium2.PdfTextPage) -> str:
    """U+0002 stands for a hyphen that divides a word, U+0000 for a letter of which the file does not say what it means.

    PDFium gives U+FFFE for both in one piece of text, and leaves out what is no character at all. Asked for one by one, they
    differ, which takes longer.
    """
    from pypdfium2 import raw

    whole: str = page.get_text_range()
    length = page.count_chars()
    if "\ufffe" not in whole and len(whole) == length:
        return whole
    return _decoded("".join(chr(raw.FPDFText_GetUnicode(page, n)) for n in range(length)))


def _title(document: pypdfium2.PdfDocument) -> str:
    try:
        return str(document.get_metadata_value("Title"))
    except UnicodeDecodeError as error:
        return error.object.decode("utf-16-le", "replace")


def _decoded(text: str) -> str:
    """Halves of characters joined; one alone is U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _limit_memory(size: int) -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    path, most_pages, most_characters, memory = sys.argv[1:]
    _limit_memory(int(memory))
    try:
        found = text(path, int(most_pages), int(most_characters))
    except RefusedError as refused:
        found = {"refused": str(refused)}
    json.dump(found, sys.stdout)
