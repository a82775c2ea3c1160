"""Secrets are taken out of a text in any spelling, and nothing else is."""

import base64
import html
import json
import random
import time
from urllib.parse import quote

import pytest

from docmind.llm.concealing import MARK, Concealing, _spellings, conceal

KEY = "sk-This/is+the_secret-0123456789="


def in_base64(before: str, after: str = "", encode=base64.b64encode) -> str:
    return encode(f"{before}{KEY}{after}".encode()).decode()


SPELLINGS = {
    "plain": KEY,
    "upper": KEY.upper(),
    "lower": KEY.lower(),
    "broken": f"{KEY[:9]}\n{KEY[9:20]} \t{KEY[20:]}",
    "with no width": "\u200b".join(KEY),
    "json": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "json escapes": "".join(f"\\u{ord(c):04X}" for c in KEY),
    "json in json": "".join(f"\\\\u{ord(c):04x}" for c in KEY),
    "a break in json": f"{KEY[:9]}\\n{KEY[9:]}",
    "address": quote(KEY, safe=""),
    "address, all": "".join(f"%{ord(c):02x}" for c in KEY),
    "decimal entities": "".join(f"&#{ord(c)};" for c in KEY),
    "hexadecimal entities": "".join(f"&#x{ord(c):X};" for c in KEY),
    "named entities": KEY.replace("/", "&sol;")
    .replace("+", "&plus;")
    .replace("_", "&lowbar;")
    .replace("=", "&equals;"),
    "escaped": html.escape(KEY),
    "base64": in_base64(""),
    "base64, shifted": in_base64("u:"),
    "base64, shifted twice": in_base64("Bearer "),
    "base64 with more": in_base64("a", "and more after it"),
    "base64 of addresses": in_base64("?>~", "?>~", base64.urlsafe_b64encode),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_key_in_any_spelling_is_taken_out_and_nothing_else(spelling):
    assert conceal(f"before ({spelling}) after", [KEY]) == f"before ({MARK}) after"
    assert conceal(f"{spelling} {spelling}", [KEY]) == f"{MARK} {MARK}"


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("seed", range(4))
def test_of_a_key_in_pieces_no_more_than_its_beginning_is_given(spelling, seed):
    generator = random.Random(seed)
    text, given = f"It is ({spelling}), I say: R&D, 5 %.", []
    showing = Concealing(given.append, [KEY])
    while text:
        size = generator.choice([1, 2, 3, 7])
        showing.write(text[:size])
        text = text[size:]
    showing.end()
    shown = "".join(given)
    assert shown.startswith("It is (")
    assert shown.endswith("), I say: R&D, 5 %.")
    assert shown.count(MARK) == 1
    left = conceal(shown, [KEY]).lower()
    assert not [
        core for core in _spellings(KEY, loosely=True) for at in range(len(core) - 7) if core[at : at + 8] in left
    ]


@pytest.mark.parametrize(
    "text", ["", "The key of the secret is kept.", "50 % of R&D &amp; sales", "sk-This/is", "a\\nb", "C:\\users"]
)
def test_other_text_stays_and_is_given_at_once_but_for_its_end(text):
    assert conceal(text, [KEY, "changeme"]) == text
    given = []
    showing = Concealing(given.append, [KEY])
    showing.write(text)
    showing.end()
    assert "".join(given) == text


def test_a_short_key_is_taken_out_as_it_is_written():
    assert conceal("key: none, None, no ne, n\\u006fne", ["none"]) == f"key: {MARK}, None, no ne, {MARK}"


@pytest.mark.parametrize("part", ["\\", "&", "%", " ", "&#", "sk-", "A"])
def test_the_time_grows_with_the_text(part):
    def seconds(size: int) -> float:
        begun = time.perf_counter()
        conceal(part * size, [KEY])
        return time.perf_counter() - begun

    seconds(100)
    assert seconds(160_000) < 16 * max(seconds(20_000), 0.01)
