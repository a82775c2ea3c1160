"""Nothing that decides what is retrieved may be missing from the treatment."""

import json

import pytest
from handmade import results

from docmind.chunking import CHUNKERS
from docmind.chunking import PRESETS as CHUNKER_PRESETS
from docmind.evaluation.gate.compare import compare
from docmind.models import load
from docmind.parameters import declared, written
from docmind.retrieval import MODES
from docmind.retrieval import PRESETS as MODE_PRESETS
from docmind.retrieval.fingerprint import treatment
from docmind.retrieval.strategies import chunker, mode, strategy


@pytest.fixture(scope="module")
def models():
    """Nothing is read or built for a fingerprint."""
    return load("default")


def named(models, text):
    """The treatment of one strategy, which is called the same whatever it is."""
    return treatment(models, [strategy("it", {"it": text})], {})


def others(made, part):
    """Of a part, made by the class `made`: each parameter at another value than its own, as written in brackets."""
    for each in declared(made):
        own = dict(part.values)[each.name]
        if each.choices:
            values = [choice for choice in each.choices if choice != own]
        elif isinstance(own, tuple):
            values = [(*own[:-1], 7.5), (7.5, *own[1:])]
        else:
            values = [own / 2 if isinstance(own, float) else own - 1 if own else 1]
        held = [*map(str, part.inner)]
        yield from (",".join([*held, f"{each.name}={written(value)}"]) for value in values)


def chunkers():
    for name in [*CHUNKERS, *CHUNKER_PRESETS]:
        part = chunker(name)
        for held in others(CHUNKERS[part.name], part):
            yield f"{name}+bm25", f"{name}({held})+bm25"


def modes():
    for name in [*MODES, *MODE_PRESETS]:
        part = mode(name)
        for held in others(MODES[part.name].make, part):
            for around in ("headers+{}", "headers+mmr({})", "headers+fuse(bm25,rerank({}))"):
                yield around.format(name), around.format(f"{name}({held})")


@pytest.mark.parametrize(("before", "after"), [*chunkers(), *modes()])
def test_a_change_of_any_parameter_of_any_part_changes_the_treatment(models, before, after):
    old, new = named(models, before), named(models, after)
    for part in ("chunkers", "modes"):  # the same under one label, or the label alone would differ
        old[part], new[part] = ([*found[part].values()] for found in (old, new))
    assert (old["chunkers"], old["modes"]) != (new["chunkers"], new["modes"])
    assert json.loads(json.dumps(new)) == new


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("hybrid", "hybrid_stem"), ("hybrid", "minmax"), ("hybrid", "fuse(bm25,vector)"), ("rerank", "rerank(vector)"),
        ("hybrid(weights=2:1)", "hybrid(weights=1:2)"), ("mmr", "mmr(bm25)"),
    ],
)  # fmt: skip
def test_another_composition_changes_it_too(models, before, after):
    old, new = ([*named(models, f"headers+{text}")["modes"].values()] for text in (before, after))
    assert old != new


def test_one_strategy_written_in_two_ways_is_settled_alike(models):
    for one, other in (("hybrid", "fuse(vector,bm25,depth=20)"), ("rerank", "rerank(hybrid)"), ("rrf", "hybrid()")):
        first, second = ([*named(models, f"headers+{text}")["modes"].values()] for text in (one, other))
        assert {"mode": mode(one).name} | first[0] == {"mode": mode(one).name} | second[0]


def test_the_treatment_names_parameters_models_versions_and_code(models):
    texts = ("fixed_500+vector", "headers(size=300)+rerank(hybrid(weights=2:1))")
    found = treatment(models, [strategy(text) for text in texts], {})
    assert found["strategies"] == {
        "fixed_500+vector": {"chunker": "fixed_500", "mode": "vector"},
        "headers(size=300)+rerank(hybrid(weights=2:1))": {
            "chunker": "headers(size=300)",
            "mode": "rerank(hybrid(weights=2:1))",
        },
    }
    assert found["chunkers"] == {
        "fixed_500": {"chunker": "fixed", "size": 500, "overlap": 64},
        "headers(size=300)": {"chunker": "headers", "size": 300, "overlap": 0},
    }
    assert found["modes"] == {
        "rerank(hybrid(weights=2:1))": {
            "mode": "rerank",
            "inner": {
                "1": {
                    "mode": "fuse",
                    "inner": {"1": {"mode": "vector"}, "2": {"mode": "bm25"}},
                    "how": "rrf",
                    "weights": [2.0, 1.0],
                    "constant": 60,
                    "depth": 20,
                }
            },
            "depth": 20,
        },
        "vector": {},
    }
    assert found["models"]["embedder"] == models.embedder.id
    assert {"chromadb", "onnxruntime"} <= set(found["libraries"])
    code = {"chunking/fixed.py", "retrieval/fuse.py", "retrieval/strategies.py", "text.py", "spec.py", "parameters.py"}
    assert code <= set(found["code"])


def test_diff_says_which_parameter_changed(models):
    before, after = (named(models, "headers+rerank") for _ in range(2))
    after["chunkers"]["headers"]["size"] = 450
    after["modes"]["rerank"]["inner"]["1"]["weights"] = [2.0, 1.0]
    found = {"s": {"q1": 1}}
    told = compare(results(found, treatment=before), results(found, treatment=after)).differences
    assert "chunkers: headers size: 500 → 450" in told
    assert "modes: rerank inner 1 weights: [1.0, 1.0] → [2.0, 1.0]" in told
