"""PDFs made by hand, as small as a reader takes them. It tests nothing."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Mapping, Sequence

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def pdf(pages: Sequence[str], title: str | bytes = "", meanings: Mapping[str, str] | None = None) -> bytes:
    """A page for each text, a line for each of its lines; "" is a page without text, as a scan is. A title of bytes stands as
    it is. `meanings` says of letters what the font says that they mean: UTF-16 in hex."""
    return with_streams([_drawn(page) for page in pages], title, meanings or {})


def with_streams(streams: Sequence[bytes], title: str | bytes = "", meanings: Mapping[str, str] = {}) -> bytes:
    """A page for each stream of PDF operators, which is compressed already."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(len(streams)))
    font = 3 + 2 * len(streams)
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(streams)}>>".encode()]
    for n, stream in enumerate(streams):
        page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {4 + 2 * n} 0 R/Resources<</Font<</F {font} 0 R>>>>>>"
        head = f"<</Length {len(stream)}/Filter/FlateDecode>>stream\n"
        objects += [page.encode(), head.encode() + stream + b"\nendstream"]
    written = title if isinstance(title, bytes) else b"(" + _escaped(title) + b")"
    to_unicode = f"/ToUnicode {font + 2} 0 R>>".encode() if meanings else b">>"
    objects += [FONT.removesuffix(b">>") + to_unicode, b"<</Title" + written + b">>", _meant(meanings)]
    out, places = io.BytesIO(b"%PDF-1.7\n"), []
    out.seek(0, io.SEEK_END)
    for number, content in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, content))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    out.write(trailer % (len(objects) + 1, font + 1, start))
    return out.getvalue()


def locked(contents: bytes, password: str) -> bytes:
    """The PDF encrypted by AES-128, which `password` opens."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(contents)))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb(unit: bytes, times: int) -> bytes:
    """A page whose operators are `unit`, `times` over: some thousandth of that in size."""
    packer = zlib.compressobj(9)
    return with_streams([b"".join([*(packer.compress(unit) for _ in range(times)), packer.flush()])])


def _drawn(text: str) -> bytes:
    lines: Iterable[bytes] = (b"(%b) Tj T*" % _escaped(line) for line in text.split("\n")) if text else ()
    return zlib.compress(b"BT /F 11 Tf 14 TL 50 790 Td\n" + b"\n".join(lines) + b"\nET")


def _meant(meanings: Mapping[str, str]) -> bytes:
    """The stream that says what letters mean."""
    entries = "".join(f"<{ord(letter):02X}> <{code}>\n" for letter, code in meanings.items())
    stream = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n1 begincodespacerange\n<00><FF>\n"
        f"endcodespacerange\n{len(meanings)} beginbfchar\n{entries}endbfchar endcmap end end"
    )
    return f"<</Length {len(stream)}>>stream\n{stream}\nendstream".encode()


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
