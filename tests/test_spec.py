"""How strategies are written: what is read is what was meant, and every mistake is told where it stands."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.errors import UsageError
from docmind.spec import DEEPEST, EXAMPLE, LONGEST, SLUG, Call, Spec, names, parse, parse_call, slug

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
SCALARS = st.text(
    st.characters(exclude_categories=["Cs", "Z", "Cc"], exclude_characters="(),=:"), min_size=1, max_size=6
)
VALUES = st.lists(SCALARS.filter(str.strip), min_size=1, max_size=3).map(":".join)
PAIRS = st.dictionaries(NAMES, VALUES, max_size=3).map(lambda found: tuple(found.items()))
MODES = st.recursive(
    st.builds(Call, NAMES, st.just(()), PAIRS),
    lambda inner: st.builds(Call, NAMES, st.lists(inner, max_size=3).map(tuple), PAIRS),
    max_leaves=6,
)
SPECS = st.builds(Spec, st.builds(Call, NAMES, st.just(()), PAIRS), MODES).filter(
    lambda spec: len(str(spec)) <= LONGEST
)


@given(SPECS)
def test_what_is_written_is_read_again(spec):
    assert parse(str(spec)) == spec


@given(SPECS, st.randoms(), st.sampled_from([" ", "\t", "\n", "  "]))
def test_blanks_around_signs_change_nothing(spec, random, blank):
    text = str(spec)
    signs = [i for i, sign in enumerate(text) if sign in "()=,:"] + [len(str(spec.chunker))]
    spaced = text
    for i in sorted(random.sample(signs, len(signs) // 2 + 1), reverse=True):
        spaced = f"{spaced[:i]}{blank}{spaced[i]}{blank}{spaced[i + 1 :]}"
    if len(spaced) <= LONGEST:
        assert parse(f"{blank}{spaced}{blank}") == spec


@given(st.text(st.sampled_from("ab(),=:+ 2\x00é"), max_size=30))
def test_any_text_is_read_or_refused_in_words(text):
    try:
        found = parse(text)
    except UsageError as error:
        told = str(error)
    else:
        told = EXAMPLE
        assert parse(str(found)) == found
    assert EXAMPLE in told
    assert told.isprintable()


def test_inner_modes_stand_first_and_lists_have_colons():
    text = "headers( size = 300 ) + rerank(fuse(vector, bm25_stem(), weights=2 : 1, depth=100), depth=50)"
    assert parse(text) == Spec(
        Call("headers", (), (("size", "300"),)),
        Call(
            "rerank",
            (Call("fuse", (Call("vector"), Call("bm25_stem")), (("weights", "2:1"), ("depth", "100"))),),
            (("depth", "50"),),
        ),
    )
    assert str(parse(text)) == "headers(size=300)+rerank(fuse(vector,bm25_stem,weights=2:1,depth=100),depth=50)"


MISTAKES = [
    ("", "at its start: a name is expected"),
    ("   ", "a name is expected"),
    ("headers", "after 'headers': '+' and a mode are expected"),
    ("headers+", "after 'headers+': a name is expected"),
    ("+bm25", "at its start: a name is expected: letters, digits and _, and '+' stands there"),
    ("headers++bm25", "after 'headers+': a name is expected: letters, digits and _, and '+' stands there"),
    ("headers+bm25+bm25", "after 'headers+bm25+': a second '+' stands"),
    ("headers(size=300+bm25", "after 'headers(size=300+bm25': the bracket behind 'headers' is not closed"),
    ("headers+rerank(hybrid", "after 'headers+rerank(hybrid': the bracket behind 'rerank' is not closed"),
    ("headers+rerank(hybrid(depth=5)", "the bracket behind 'rerank' is not closed"),
    ("headers+rerank(", "after 'headers+rerank(': the bracket behind 'rerank' is not closed"),
    ("headers+rerank(hybrid,", "the bracket behind 'rerank' is not closed"),
    ("headers+rerank)", "after 'headers+rerank': ')' stands where nothing more is expected"),
    ("headers)+rerank", "after 'headers': a sign stands where '+' is expected"),
    ("headers(size=300))+rerank", "after 'headers(size=300)': a sign stands where '+' is expected"),
    ("headers+rerank(depth=)", "after 'headers+rerank(depth=': 'depth' has no value"),
    ("headers+rerank(depth=,)", "'depth' has no value"),
    ("headers+rerank(depth=", "'depth' has no value"),
    ("headers+rerank(=20)", "a mode or a parameter is expected: letters, digits and _, and '=' stands there"),
    ("headers+rerank(20)", "a mode or a parameter is expected: letters, digits and _, and '2' stands there"),
    ("headers+rerank(depth=20,hybrid)", "after 'headers+rerank(depth=20,': 'hybrid' stands behind a parameter"),
    ("headers+rerank(depth=20,depth=30)", "'depth' stands twice in the brackets of 'rerank'"),
    ("headers+rerank(depth=20 30)", "after 'headers+rerank(depth=20 ': ',' or ')' is expected"),
    ("headers+rerank(depth=20=30)", "',' or ')' is expected"),
    ("headers+rerank(,)", "a mode or a parameter is expected"),
    ("headers+rerank(hybrid,)", "a mode or a parameter is expected"),
    ("headers+rerank(hybrid;depth=20)", "',' or ')' is expected"),
    ("headers+rerank(hybrid bm25)", "',' or ')' is expected"),
    ("headers+fuse(vector,bm25,weights=2:)", "a value of 'weights' is missing behind ':'"),
    ("headers+fuse(vector,bm25,weights=:2)", "'weights' has no value"),
    ("headers(vector)+bm25", "after 'headers(': 'vector' has no value, and 'headers' holds no modes; write vector=…"),
    ("headers(fixed(size=3))+bm25", "'fixed' has no value, and 'headers' holds no modes"),
    ("headers(size)+bm25", "'size' has no value"),
    ("headers(300)+bm25", "a parameter is expected: letters, digits and _, and '3' stands there"),
    ("headers[size=300]+bm25", "a sign stands where '+' is expected"),
    ("headers+bm25 bm25", "'b' stands where nothing more is expected"),
    ("5headers+bm25", "a name is expected: letters, digits and _, and '5' stands there"),
    ("hëaders+bm25", "a sign stands where '+' is expected"),
    ("headers-bm25", "a sign stands where '+' is expected"),
    ("headers+bm25\x00", r"'\x00' stands where nothing more is expected"),
    ("headers＋bm25", "a sign stands where '+' is expected"),
    ("headers,fixed+bm25", "a sign stands where '+' is expected"),
    ("headers+()", "a name is expected: letters, digits and _, and '(' stands there"),
    ("x" * (LONGEST + 1), "1,001 characters stand; 1,000 are read at most"),
    ("headers+" + "rerank(" * (DEEPEST + 1), f"brackets stand more than {DEEPEST} deep"),
]


@pytest.mark.parametrize(("text", "told"), MISTAKES)
def test_a_mistake_is_told_with_its_place_and_a_right_example(text, told):
    with pytest.raises(UsageError) as raised:
        parse(text)
    message = str(raised.value)
    assert told in message
    assert message.startswith(f"strategy {text!r}" if len(text) <= 200 else "strategy '")
    assert message.endswith(f"Right would be {EXAMPLE}.")
    assert len(message) < 600


def test_as_deep_as_allowed_is_read():
    text = "headers+" + "rerank(" * DEEPEST + "bm25" + ")" * DEEPEST
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    "text", ["h+" + "r(" * 10_000, "h+" + "(" * 10_000, "h(" * 10_000, "h+r(" + "a," * 10**6, " " * 10**6]
)
def test_what_is_huge_is_refused_at_once(text):
    started = time.perf_counter()
    with pytest.raises(UsageError, match="are read at most"):
        parse(text)
    assert time.perf_counter() - started < 0.5


def test_one_part_alone():
    assert parse_call(" hybrid( depth = 30 ) ", composed=True) == Call("hybrid", (), (("depth", "30"),))
    with pytest.raises(UsageError, match=r"part 'headers\+bm25', after 'headers': '\+' stands where nothing more"):
        parse_call("headers+bm25", composed=False)


def test_a_list_is_split_at_commas_outside_brackets_only():
    assert names("a+b") == ("a+b",)
    assert names(" a+b , c(x=1,y=2)+d(e(f,g),h=1) ,, ") == ("a+b", "c(x=1,y=2)+d(e(f,g),h=1)")
    assert names("") == names(" , ") == ()


def test_a_list_with_a_mistake_still_reaches_who_tells_of_it():
    assert names("a(x=1,b+c") == ("a(x=1,b+c",)
    assert names("a)+b,c+d") == ("a)+b", "c+d")


def test_a_list_is_split_in_linear_time():
    started = time.perf_counter()
    assert len(names("a+b(c,d)," * 100_000)) == 100_000
    assert time.perf_counter() - started < 2


def test_a_name_without_brackets_is_its_own_slug():
    for name in ("s0_original", "headers+rerank", "fixed_500+bm25_stem", "x" * SLUG):
        assert slug(name) == name


def test_other_slugs_are_readable_safe_and_differ():
    assert slug("headers(size=300)+bm25").startswith("headers-size-300-+bm25-")
    texts = ["headers(size=300)+bm25", "headers(size=30)+bm25", "HEADERS+bm25", "x" * (SLUG + 1), "x" * (SLUG + 2)]
    texts += [
        "h+fuse(vector,bm25,weights=2:1)",
        "h+fuse(vector,bm25,weights=2.1)",
        "../../etc",
        "é",
        "a b",
        "a/b",
        "\x00",
    ]
    slugs = [slug(text) for text in texts]
    assert all(len(found) <= SLUG and set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789_+.-") for found in slugs)
    assert all(a != b for a, b in itertools.combinations(slugs, 2))
    assert not any(found.startswith(".") for found in slugs)
