"""Strategies are settled before any work, or refused in words; strategies.yaml is read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.chunking import CHUNKERS
from docmind.chunking import PRESETS as CHUNKER_PRESETS
from docmind.config import Settings
from docmind.errors import StorageError, UsageError
from docmind.retrieval import MODES
from docmind.retrieval import PRESETS as MODE_PRESETS
from docmind.retrieval.strategies import PACKAGED, chunker, mode, read_strategies, strategy

HYBRID = "fuse(vector,bm25,how=rrf,weights=1:1,constant=60,depth=20)"
TEN = [
    "s0_original",
    *(f"{c}+{m}" for c in ("fixed_500", "semantic", "headers") for m in ("vector", "hybrid", "rerank")),
]


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("headers+bm25", "headers(size=500,overlap=0)+bm25"),
        (" headers( size = 300 ) + hybrid ", f"headers(size=300,overlap=0)+{HYBRID}"),
        ("recursive+mmr", "recursive(size=1000,overlap=200)+mmr(vector,fetch=10,lam=0.5)"),
        ("fixed_500(overlap=0)+vector", "fixed(size=500,overlap=0)+vector"),
        ("semantic(percentile=90.50)+rerank", f"semantic(percentile=90.5)+rerank({HYBRID},depth=20)"),
        ("headers+hybrid_stem", f"headers(size=500,overlap=0)+{HYBRID.replace('bm25', 'bm25_stem')}"),
        ("headers+rrf(depth=30)", f"headers(size=500,overlap=0)+{HYBRID.replace('depth=20', 'depth=30')}"),
        ("headers+minmax", f"headers(size=500,overlap=0)+{HYBRID.replace('rrf', 'minmax')}"),
        ("headers+hybrid(bm25,mmr,vector)", "headers(size=500,overlap=0)+fuse(bm25,mmr(vector,fetch=10,lam=0.5),vector,how=rrf,"
         "weights=1:1:1,constant=60,depth=20)"),
        ("headers+hybrid(weights=2.0:1,how=minmax)", "headers(size=500,overlap=0)+fuse(vector,bm25,how=minmax,weights=2:1,"
         "constant=60,depth=20)"),
        ("headers+mmr(hybrid,fetch=20,lam=1)", f"headers(size=500,overlap=0)+mmr({HYBRID},fetch=20,lam=1)"),
    ],
)  # fmt: skip
def test_everything_is_settled(text, full):
    found = strategy(text)
    assert f"{found.chunker}+{found.mode}" == full
    again = strategy(full)
    assert (again.chunker, again.mode) == (found.chunker, found.mode)
    assert again.name == full


def test_names_and_labels_are_what_was_written_without_blanks():
    found = strategy(" fixed_500 ( overlap=0 ) + rerank( depth = 50 ) ")
    assert found.name == "fixed_500(overlap=0)+rerank(depth=50)"
    assert (found.chunker.label, found.mode.label) == ("fixed_500(overlap=0)", "rerank(depth=50)")
    assert (found.chunker.name, found.mode.name) == ("fixed", "rerank")


def test_a_name_stands_for_what_is_written_and_names_the_files():
    found = strategy(" deep ", {"deep": "headers( size=300)+rerank(depth=100)"})
    assert (found.name, found.slug) == ("deep", "deep")
    assert (found.chunker.label, found.mode.label) == ("headers(size=300)", "rerank(depth=100)")
    other = strategy("headers(size=300)+rerank(depth=100)")
    assert (other.chunker, other.mode) == (found.chunker, found.mode)
    assert other.slug.startswith("headers-size-300-+rerank-depth-100-")
    assert strategy("headers+bm25").slug == "headers+bm25"


CHUNKER_TEXTS = st.sampled_from([*CHUNKERS, *CHUNKER_PRESETS, "headers(size=16)", "fixed(size=20,overlap=3)"])
MODE_TEXTS = st.recursive(
    st.sampled_from([*MODES, *MODE_PRESETS]),
    lambda inner: (
        st.builds("{}({},depth={})".format, st.sampled_from(["rerank"]), inner, st.integers(1, 999))
        | st.builds("mmr({},lam={:.2f})".format, inner, st.floats(0, 1))
        | st.builds("fuse({},{},weights={:.3f}:{})".format, inner, inner, st.floats(0.001, 1000), st.integers(1, 1000))
    ),
    max_leaves=5,
)


@given(CHUNKER_TEXTS, MODE_TEXTS)
def test_the_full_text_of_a_strategy_is_that_strategy(chunk, find):
    found = strategy(f"{chunk}+{find}")
    full = f"{found.chunker}+{found.mode}"
    if len(full) <= 1000:
        again = strategy(full)
        assert (again.chunker, again.mode, f"{again.chunker}+{again.mode}") == (found.chunker, found.mode, full)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "unknown strategy ''. Write CHUNKER+MODE, such as headers(size=300)+rerank(depth=100)"),
        ("headers", "'headers' is a chunker, and a strategy is a chunker and a mode: write headers+rerank"),
        ("s0_original", "unknown strategy 's0_original'."),
        ("header+rerank", "unknown chunker 'header'. Did you mean 'headers'? There are: recursive, fixed, semantic, headers, "
         "recursive_1000, fixed_500."),
        ("headers+bm52", "unknown mode 'bm52'. Did you mean 'bm25'? There are: vector, bm25, "),
        ("headers+hybird", "unknown mode 'hybird'. Did you mean 'hybrid'?"),
        ("vector+headers", "'vector' is a mode, not a chunker; it belongs behind the '+', as in headers+vector"),
        ("Headers+bm25", "unknown chunker 'Headers'. Did you mean 'headers'?"),
        ("headers+rerank(hybird)", "unknown mode 'hybird'."),
        ("headers(sise=300)+bm25", "unknown parameter of headers 'sise'. Did you mean 'size'? There are: size, overlap."),
        ("headers(deepest=3)+bm25", "unknown parameter of headers 'deepest'. There are: size, overlap."),
        ("headers+bm25(depth=3)", "bm25 has no parameter 'depth', nor any."),
        ("headers+rerank(constant=30)", "unknown parameter of rerank 'constant'. There are: depth."),
        ("headers+hybrid(dept=30)", "unknown parameter of hybrid 'dept'. Did you mean 'depth'? There are: how, weights, "),
        ("headers(size=501)+bm25", "headers: size=501 was given; expected: a whole number, such as 20, from 16 to 500. Write "
         "size=500"),
        ("headers(size=15)+bm25", "headers: size=15 was given"),
        ("headers(size=-300)+bm25", "headers: size=-300 was given"),
        ("headers(size=3e2)+bm25", "headers: size=3e2 was given"),
        ("headers(size=300.0)+bm25", "headers: size=300.0 was given"),
        ("headers(size=0300)+bm25", "headers: size=0300 was given"),
        ("headers(size=+300)+bm25", "headers: size=+300 was given"),
        ("headers(size=３００)+bm25", "headers: size=３００ was given"),
        ("headers(size=big)+bm25", "headers: size=big was given"),
        ("headers(size=300:400)+bm25", "headers: size=300:400 was given"),
        ("headers(size=30\x07)+bm25", r"headers: size='30\x07' was given"),
        ("semantic(percentile=nan)+bm25", "semantic: percentile=nan was given; expected: a decimal, such as 0.5, from 0 to 100"),
        ("semantic(percentile=101)+bm25", "semantic: percentile=101 was given"),
        ("fixed(size=100,overlap=100)+bm25", "fixed: size=100 stands with overlap=100; expected: an overlap that is less"),
        ("fixed_500(size=64)+bm25", "fixed: size=64 stands with overlap=64"),
        ("recursive(size=100)+bm25", "recursive: size=100 stands with overlap=200"),
        ("headers+vector(bm25)", "vector holds no modes in its brackets; 1 given. Write vector alone."),
        ("headers+rerank(vector,bm25)", "rerank holds 1 mode in its brackets; 2 were given. Join them: "
         "rerank(fuse(vector,bm25))"),
        ("headers+fuse(vector)", "fuse joins two modes or more; 1 was given. Write fuse(vector,bm25), or others."),
        ("headers+hybrid(vector)", "hybrid joins two modes or more; 1 was given"),
        ("headers+hybrid(weights=1)", "fuse: weights=1 was given; expected: 2 of them, one a list. Write weights=1:1"),
        ("headers+fuse(vector,bm25,weights=1:2:3)", "fuse: weights=1:2:3 was given; expected: 2 of them"),
        ("headers+fuse(vector,bm25,weights=1:0)", "fuse: weights=1:0 was given; expected: decimals with colons between them, "
         "such as 2:1, from 0.001 to 1000. Mend it, or leave it out."),
        ("headers+fuse(vector,bm25,weights=1:-1)", "fuse: weights=1:-1 was given"),
        ("headers+fuse(vector,bm25,weights=nan:1)", "fuse: weights=nan:1 was given"),
        ("headers+fuse(vector,bm25,weights=inf:1)", "fuse: weights=inf:1 was given"),
        ("headers+hybrid(how=sum)", "hybrid: how=sum was given; expected: one of rrf, minmax. Write how=rrf"),
        ("headers+hybrid(depth=0)", "hybrid: depth=0 was given; expected: a whole number, such as 20, from 1 to 1000"),
        ("headers+hybrid(depth=1001)", "hybrid: depth=1001 was given"),
        ("headers+mmr(lam=1.5)", "mmr: lam=1.5 was given; expected: a decimal, such as 0.5, from 0 to 1"),
        ("headers+mmr(fetch=0)", "mmr: fetch=0 was given"),
        ("x" * 10**6, "unknown strategy 'xxxx"),
        ("headers+" + "rerank(" * 100, "brackets stand more than 16 deep"),
        ("headers+" + "rerank(" * 10_000, "1,000 are read at most"),
    ],
)  # fmt: skip
def test_a_wrong_strategy_is_refused_in_words(text, told):
    with pytest.raises(UsageError) as raised:
        strategy(text)
    assert told in str(raised.value)
    assert len(str(raised.value)) < 600
    assert str(raised.value).isprintable()


def test_an_unknown_name_is_told_with_those_of_the_file():
    with pytest.raises(UsageError) as raised:
        read_strategies(None).find("s0_orignal")
    told = str(raised.value)
    assert told.startswith(
        "unknown strategy 's0_orignal'. Did you mean 's0_original'? There are: s0_original; or write any "
    )
    assert "CHUNKER+MODE" in told


def test_one_part_alone():
    assert str(chunker("fixed_500(overlap=0)")) == "fixed(size=500,overlap=0)"
    assert str(mode(" hybrid ")) == HYBRID
    for wrong in (lambda: chunker("headers+bm25"), lambda: chunker("headers(bm25)"), lambda: mode("hybrid)")):
        with pytest.raises(UsageError, match="Right would be"):
            wrong()


# strategies.yaml


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "strategies.yaml"
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


def test_the_committed_and_the_packaged_file_give_the_ten(monkeypatch, tmp_path):
    committed = read_strategies(PACKAGED.parents[1] / "eval" / "strategies.yaml")
    monkeypatch.chdir(tmp_path)
    for found in (committed, read_strategies(None), read_strategies(Settings().strategies)):
        assert [each.name for each in found.matrix] == TEN
        assert found.gate is None
        assert found.names == {"s0_original": "recursive_1000+mmr"}
        assert found == committed
    assert str(committed.find("s0_original").chunker) == "recursive(size=1000,overlap=200)"


def test_the_default_file_is_read_where_it_is_there_and_another_must_be(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval").mkdir()
    Settings().strategies.write_text("matrix: [headers+bm25]\n")
    assert [each.name for each in read_strategies(Settings().strategies).matrix] == ["headers+bm25"]
    for missing in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(
            StorageError, match=r"the strategies cannot be read: .*Name a file with --strategies-file"
        ) as raised:
            read_strategies(missing)
        assert str(missing) in str(raised.value)
        assert raised.value.exit_code == 2


def test_names_matrix_and_gate(written):
    found = read_strategies(written(
        "strategies:\n  deep: headers(size=300)+rerank(depth=100)\n  plain: headers+bm25\n"
        "matrix: [deep, ' headers + hybrid ', headers+bm25]\ngate: [headers+hybrid, deep]\n"
    ))  # fmt: skip
    assert [each.name for each in found.matrix] == ["deep", "headers+hybrid", "headers+bm25"]
    assert found.gate == ("headers+hybrid", "deep")
    # Under two names one strategy may be scored twice; it is found under either.
    assert found.find("plain").chunker == found.find("headers+bm25").chunker


def test_without_a_matrix_all_that_have_a_name_are_scored_and_gated(written):
    found = read_strategies(written("strategies: {b: headers+bm25, a: fixed+bm25}\n"))
    assert [each.name for each in found.matrix] == ["b", "a"]
    assert found.gate is None


def test_a_name_may_be_the_strategy_that_it_names(written):
    found = read_strategies(written("strategies:\n  headers+bm25: headers(size=500,overlap=0)+bm25\n"))
    assert [each.name for each in found.matrix] == ["headers+bm25"]


def test_a_name_stays_as_it_is_written(written):
    names = ["5", "012", "1.10", "no", "true", "2024-10-05", "null"]
    lines = [f"  {name}: headers(size={100 + i})+bm25\n" for i, name in enumerate(names)]
    found = read_strategies(written(f"strategies:\n{''.join(lines)}"))
    assert [each.name for each in found.matrix] == names


NAME = "a name of a-z, 0-9, _, +, . and - was expected, 80 characters at most, since files are called by it."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds None; `key: value` lines were expected: strategies, matrix, gate."),
        ("# nothing\n", "holds None"),
        ("- headers+bm25\n", "holds ['headers+bm25']"),
        ("headers+bm25", "holds 'headers+bm25'"),
        ("a: b: c\n", "is no YAML"),
        ("matrix: [headers+bm25\n", "is no YAML"),
        ("matrix: [headers(size=300)+bm25, headers(size=3,overlap=1)+bm25]\n", "matrix.1: strategy 'headers(size=3'"),
        ("matrix: \x00\n", "is no YAML"),
        ("a: " + "[" * 3000, "is no YAML"),
        ('matrix: !!int ""\n', "matrix: '' was found; expected: a list"),
        ("matrix: !!timestamp zz\n", "matrix: 'zz' was found"),
        ("matrix: !!python/object/apply:os.getcwd []\n", "matrix: [] was found"),
        ("matrix: *nobody\n", "is no YAML"),
        ("matrix: [headers+bm25]\nmatrix: [headers+vector]\n", "the key 'matrix' stands twice"),
        ("strategies:\n  a: headers+bm25\n  a: headers+vector\n", "the key 'a' stands twice"),
        ("matirx: [headers+bm25]\nmatrix: [headers+bm25]\n", "unknown key 'matirx'. Did you mean 'matrix'? There are: "),
        ("matrix: [headers+bm25]\n5: x\n", "unknown key '5'."),
        ("{}", "matrix: [] was found; expected: a list of one strategy or more."),
        ("gate: [headers+bm25]\n", "matrix: [] was found"),
        ("strategies: {}\n", "matrix: [] was found"),
        ("matrix: []\n", "matrix: [] was found"),
        ("matrix:\n", "matrix: None was found; expected: a list of one strategy or more."),
        ("matrix: headers+bm25\n", "matrix: 'headers+bm25' was found; expected: a list"),
        ("matrix: {a: headers+bm25}\n", "matrix: {'a': 'headers+bm25'} was found"),
        ("matrix: [headers+bm25, 5]\n", "matrix.1: unknown strategy '5'"),
        ("matrix: [headers+bm25, null]\n", "matrix.1: None was found"),
        ("matrix: [[headers+bm25]]\n", "matrix.0: ['headers+bm25'] was found"),
        ("matrix: [[a]]\n", "matrix.0: ['a'] was found; expected: a name, or headers(size=300)"),
        ("matrix: [2024-01-01]\n", "matrix.0: unknown strategy '2024-01-01'"),
        ("matrix: [headers+bm25, headers + bm25]\n", "matrix.1: headers+bm25 stands twice. Leave one out."),
        ("matrix: [headers+bm25, headers()+bm25]\n", "matrix.1: headers+bm25 stands twice."),
        ("matrix: [header+bm25]\n", "matrix.0: unknown chunker 'header'. Did you mean 'headers'?"),
        ("matrix: [s0_original]\n", "matrix.0: unknown strategy 's0_original'."),
        ("strategies: {deep: headers+bm25}\nmatrix: [dep]\n", "matrix.0: unknown strategy 'dep'. Did you mean 'deep'?"),
        ("matrix: ['headers(size=3)+bm25']\n", "matrix.0: headers: size=3 was given"),
        ("matrix: [headers+bm25]\ngate: [headers+vector]\n", "gate: headers+vector is not in the matrix."),
        ("matrix: [headers+bm25]\ngate: []\n", "gate: [] was found; expected: a list of one strategy or more."),
        ("matrix: [headers+bm25]\ngate:\n", "gate: None was found"),
        ("matrix: [headers+bm25]\ngate: [headers+bm25, headers+bm25]\n", "gate.1: headers+bm25 stands twice."),
        ("matrix: [headers+bm25]\ngate: headers+bm25\n", "gate: 'headers+bm25' was found; expected: a list"),
        ("matrix: [headers+bm25]\nstrategies: [a]\n", "strategies: ['a'] was found; expected: lines `name: CHUNKER+MODE`."),
        ("matrix: [headers+bm25]\nstrategies:\n", "strategies: None was found"),
        ("strategies: {a: [5]}\n", "strategies.a: ['5'] was found; expected: CHUNKER+MODE, such as headers(size=300)"),
        ("strategies: {a: null}\n", "strategies.a: None was found"),
        ("strategies: {a: {b: c}}\n", "strategies.a: none of b was found"),
        ("strategies: {a: headers}\n", "strategies.a: 'headers' is a chunker, and a strategy is"),
        ("strategies: {a: headers+bm25, b: a}\n", "strategies.b: unknown strategy 'a'."),
        ("strategies: {a: headers+bm52}\n", "strategies.a: unknown mode 'bm52'."),
        ("strategies: {? [a, b] : headers+bm25}\n", "is no YAML"),
        ("strategies: {'': headers+bm25}\n", f"'strategies.': {NAME}"),
        ("strategies: {Deep: headers+bm25}\n", f"'strategies.Deep': {NAME}"),
        ("strategies: {a/b: headers+bm25}\n", f"'strategies.a/b': {NAME}"),
        ("strategies: {../up: headers+bm25}\n", NAME),
        ("strategies: {.hidden: headers+bm25}\n", NAME),
        ("strategies: {a(b): headers+bm25}\n", f"'strategies.a(b)': {NAME}"),
        ("strategies: {'a b': headers+bm25}\n", NAME),
        ("strategies: {'a,b': headers+bm25}\n", NAME),
        ('strategies: {"a\\tb": headers+bm25}\n', NAME),
        ('strategies: {"a\\nb": headers+bm25}\n', NAME),
        ('strategies: {"a\\e[31m": headers+bm25}\n', NAME),
        (f"strategies: {{{'x' * 81}: headers+bm25}}\n", NAME),
        ("strategies: {headers+vector: headers+bm25}\n", "strategies.headers+vector: the name is itself a strategy, and "
         "another than headers+bm25. Name it without '+'."),
        ("strategies: {deep+slow: headers+bm25}\n", "strategies.deep+slow: unknown chunker 'deep'."),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_its_key(written, text, told):
    path = written(text)
    with pytest.raises(UsageError) as raised:
        read_strategies(path)
    message = str(raised.value)
    assert told in message
    assert message.startswith(f"{path}: ")
    assert all(line.isprintable() for line in message.split("\n"))


def test_every_fault_is_told_at_once(written):
    with pytest.raises(UsageError) as raised:
        read_strategies(
            written("matirx: 1\nstrategies: {a b: headers+bm25}\nmatrix: [header+bm25, 5]\ngate: [headers+bm25]\n")
        )
    message = str(raised.value)
    assert "faults in the strategies: 5\n" in message
    assert all(
        part in message for part in ("'matirx'", "'strategies.a b'", "matrix.0: ", "matrix.1: ", "gate: headers+bm25")
    )


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "strategies.yaml"
    path.write_bytes(b"matrix: caf\xe9\n")
    with pytest.raises(UsageError, match="is no YAML"):
        read_strategies(path)


def test_what_is_huge_is_told_in_short(written):
    many = "x" * 100_000
    for text in (
        f"matrix: [{many}]",
        f"matrix: {many}",
        f"strategies: {{{many}: a}}",
        f"{many}: a",
    ):
        with pytest.raises(UsageError) as raised:
            read_strategies(written(text))
        assert len(str(raised.value)) < 1_500
