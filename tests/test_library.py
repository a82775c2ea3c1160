"""The face for Python: light to import, and every line of its page works."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from workplace import QUESTIONS

import docmind
from docmind.evaluation.record.writing import dumps
from docmind.retrieval.collection import Built
from docmind.retrieval.strategies import strategy
from docmind.runs.retrieval import Loaded
from docmind.types import Query

ROOT = Path(__file__).parent.parent
NAMES = ["headers+rerank", "headers(size=300)+rerank(depth=100)"]


@pytest.fixture
def place(corpus, tmp_path, monkeypatch):
    """A folder as the page has it."""
    corpus.rename(tmp_path / "my-docs")
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    (tmp_path / "thresholds.yaml").write_text("production: headers+rerank\nmin_hit_at_3: 0.5\nmax_regression_pp: 3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evaluate(*names, **more):
    return docmind.evaluate("my-docs", "questions.jsonl", names or NAMES, **more)


@pytest.mark.usefixtures("place")
def test_every_line_of_the_page_works(capsys):
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    namespace = {}
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for block in blocks:
        exec(compile(block, "library.md", "exec"), namespace)
    assert len(blocks) >= 4
    said = capsys.readouterr().out
    assert "headers+rerank 0 lost 0 gained 1.0" in said
    assert "passed 0" in said
    assert "rerank" in said
    for name in ("results/latest.html", "results/latest.json", "eval/baseline.json"):
        assert Path(name).exists()


def test_importing_it_is_light_and_does_nothing():
    code = """
import sys, docmind
print([name for name in ("numpy", "pydantic", "typer", "chromadb", "onnxruntime", "yaml") if name in sys.modules])
print(sorted(docmind.__all__) == docmind.__all__, set(docmind.__all__) <= set(dir(docmind)))
from docmind import *
print(evaluate.__module__, compare.__module__, Settings.__module__)
try:
    docmind.evalute
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "[]",
        "True True",
        "docmind.runs.retrieval docmind.runs.retrieval docmind.config",
        f"module 'docmind' has no attribute 'evalute'. There are: {', '.join(docmind.__all__)}.",
    ]


@pytest.mark.usefixtures("place")
def test_a_run_is_a_mapping_that_explains_itself():
    run = evaluate()
    assert list(run) == NAMES
    assert run["headers+rerank"].questions["q1"].rank == 1
    with pytest.raises(docmind.DocMindError, match=r"unknown strategy of this run 'headers\+rerang'. Did you mean"):
        run["headers+rerang"]
    table = run.to_pandas()
    assert list(table.index) == NAMES
    assert table.loc["headers+rerank", "hit@3"] == run["headers+rerank"].metrics["hit@3"]
    assert (table["ms"] > 0).all()


@pytest.mark.usefixtures("place")
def test_long_steps_indexes_and_questions_are_told():
    steps, events = [], []

    @contextmanager
    def progress(what, total):
        yield lambda done: steps.append((what, total))

    evaluate("headers+vector", progress=progress, observe=events.append)
    assert list(dict.fromkeys(steps)) == [
        ("reading", 3),
        ("headers: chunking", 3),
        ("headers: embedding", 5),
        ("headers+vector: asking", 5),
        ("taking the time", 1),
    ]
    assert [type(event) for event in events] == [Loaded, Built]
    assert [question.id for question in events[0].questions] == ["q1", "q2", "q3", "q4", "u1"]


@pytest.mark.usefixtures("place")
def test_metrics_are_added_and_the_standard_ones_stay():
    run = evaluate("headers+rerank", metrics=["recall@20", "full@2", "hit@3"])
    names = list(run["headers+rerank"].metrics)
    assert names[-2:] == ["recall@20", "full@2"]
    assert names.count("hit@3") == 1
    assert run.record.instrument.metrics.depth == 20
    assert docmind.compare(evaluate("headers+rerank"), run).refusals == ()


@pytest.mark.usefixtures("place")
def test_a_metric_deeper_than_the_list_is_refused_and_a_deeper_list_has_it():
    with pytest.raises(
        docmind.DocMindError, match=r"recall@100 needs 100 hits, and the list of headers\+rerank ends at"
    ):
        evaluate("headers+rerank", metrics=["recall@100"])
    assert (
        "recall@100"
        in evaluate("headers+rerank(depth=100)", metrics=["recall@100"])["headers+rerank(depth=100)"].metrics
    )


@pytest.mark.usefixtures("place")
def test_a_list_too_short_is_refused_before_any_strategy_is_asked():
    """The first strategy's list is long enough; nobody waits for it to learn that the second's is not."""
    steps = []

    @contextmanager
    def progress(what, total):
        steps.append(what)
        yield lambda done: None

    with pytest.raises(docmind.DocMindError, match=r"the list of headers\+rerank ends at its depth 20"):
        evaluate("headers+vector", "headers+rerank", metrics=["recall@100"], progress=progress)
    assert "headers: embedding" in steps
    assert not [step for step in steps if step.endswith(": asking")]


@pytest.mark.usefixtures("place")
def test_names_may_be_one_text_and_odd_calls_are_told():
    run = docmind.evaluate(
        "my-docs", "questions.jsonl", "headers+bm25, headers+fuse(bm25,bm25_stem)", metrics="hit@2,full@2"
    )
    assert list(run) == ["headers+bm25", "headers+fuse(bm25,bm25_stem)"]
    assert list(run["headers+bm25"].metrics)[-2:] == ["hit@2", "full@2"]
    with docmind.open("my-docs") as search:
        for k in (0, -1, 2.5, "3"):
            with pytest.raises(docmind.DocMindError, match=rf"k is {k!r}; how many hits"):
                search("headers+bm25", "leave", k=k)
        for question in ("", "???", Query("\u200b")):
            with pytest.raises(docmind.DocMindError, match=r"The question holds no word\. Write one"):
                search("headers+bm25", question)
    for strategies in ([], "", " , "):
        with pytest.raises(docmind.DocMindError, match="no strategy was given"):
            docmind.evaluate("my-docs", "questions.jsonl", strategies)


@pytest.mark.usefixtures("place")
def test_two_evaluations_at_once_find_what_one_finds():
    expected = dumps(evaluate().record)
    with ThreadPoolExecutor(2) as threads:
        runs = list(threads.map(lambda _: evaluate(settings=docmind.Settings(index_dir=Path("anew"))), range(2)))
    assert [dumps(run.record) for run in runs] == [expected, expected]


@pytest.mark.usefixtures("place")
def test_a_run_is_judged_by_what_its_settings_name():
    settings = docmind.Settings(baseline=Path("eval/baseline.json"), thresholds=Path("thresholds.yaml"))
    run = evaluate(settings=settings)
    with pytest.raises(docmind.DocMindError, match="there is no baseline"):
        run.check()
    run.save("eval", baseline=True)
    assert run.check().headline == "passed"
    assert run.judged(run.check()).material.verdict.exit_code == 0


@pytest.mark.usefixtures("place")
def test_one_text_is_one_name_or_several_between_commas_wherever_names_are_given():
    run = evaluate("headers+bm25", ids="q1")
    assert list(run["headers+bm25"].questions) == ["q1"]
    assert list(evaluate("headers+bm25", ids="q1, q2")["headers+bm25"].questions) == ["q1", "q2"]
    direct = evaluate("headers+bm25", types="direct")["headers+bm25"]
    assert direct.by_type.keys() == {"direct"}
    assert list(evaluate("headers+bm25", ids=iter(["q1", "q2"]))["headers+bm25"].questions) == ["q1", "q2"]
    assert list(docmind.evaluate("my-docs", "questions.jsonl", (name for name in ["headers+bm25"]))) == ["headers+bm25"]
    for argument in ("strategies", "metrics", "types", "ids"):
        for wrong in ([7], 7):
            with pytest.raises(docmind.DocMindError, match=rf"{argument}: 7 was given; expected: names"):
                docmind.evaluate("my-docs", "questions.jsonl", **{"strategies": "headers+bm25", argument: wrong})


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: evaluate("headers+bm25", ids=[]), r"ids: \[\] names none"),
        (lambda: evaluate("headers+bm25", types=[""]), r"types: \[''\] names none"),
        (lambda: evaluate("headers+bm25", settings={}), r"settings: {} was given; expected: a docmind.Settings"),
        (lambda: evaluate("headers+bm25", progress=5), r"progress: 5 was given; expected: what can be called"),
        (lambda: docmind.evaluate(5, "questions.jsonl"), r"corpus: 5 was given; expected: a path"),
        (lambda: docmind.evaluate("my-docs", b"q"), r"questions: b'q' was given; expected: a path"),
        (lambda: docmind.read(None), r"path: None was given; expected: a path"),
        (lambda: docmind.compare(5, 6), r"path: 5 was given; expected: a path"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_argument(call, told):
    with pytest.raises(docmind.DocMindError, match=told):
        call()


@pytest.mark.usefixtures("place")
def test_a_searcher_tells_what_it_cannot_be_asked_and_that_it_was_closed():
    with docmind.open("my-docs") as search:
        assert search("headers+bm25", "leave").hits
        for question in (None, b"x", 5):
            with pytest.raises(docmind.DocMindError, match=r"question: .* was given; expected: a text"):
                search("headers+bm25", question)
        for name in (None, 5, b"headers+bm25", ["headers+bm25"]):
            with pytest.raises(docmind.DocMindError, match=r"strategy: .* was given; expected: a text"):
                search(name, "leave")
        for k in (True, 1.5, "3"):
            with pytest.raises(docmind.DocMindError, match=r"k is .*; how many hits"):
                search("headers+bm25", "leave", k=k)
    search.close()
    with pytest.raises(docmind.DocMindError, match="was closed"):
        search("headers+bm25", "leave")


def test_settings_take_texts_for_paths_and_one_pattern():
    settings = docmind.Settings(corpus="my-docs", index_dir="kept", exclude="drafts/*")
    assert (settings.corpus, settings.index_dir, settings.exclude) == (Path("my-docs"), Path("kept"), ("drafts/*",))
    assert docmind.Settings(exclude=["a", "b"]).exclude == ("a", "b")
    with pytest.raises(docmind.DocMindError, match=r"unknown profile 'defualt'. Did you mean 'default'"):
        docmind.Settings(profile="defualt")


@pytest.mark.usefixtures("place")
def test_a_wrong_name_is_told_wherever_a_run_is_read_by_name_and_a_record_reads_like_a_run():
    run = evaluate("headers+bm25")
    run.save("results")
    for read in (run, docmind.read("results/latest.json")):
        found = read["headers+bm25"]
        assert found.questions["q1"].rank == 1
        assert found.by_type["direct"].metrics["hit@3"] == found.by_type["direct"].metrics["hit@10"]
        for wrong, message in (
            (lambda read=read: read["headers+bm26"], r"unknown strategy of this run 'headers\+bm26'"),
            (lambda found=found: found.questions["zzz"], "unknown question 'zzz'. There are: q1, q2"),
            (lambda found=found: found.metrics["hit@7"], "unknown metric 'hit@7'. Did you mean 'hit@"),
            (lambda found=found: found.by_type["driect"], "unknown type of question 'driect'. Did you mean 'direct'"),
            (lambda found=found: found.by_type["direct"].metrics["hit@7"], "unknown metric 'hit@7'"),
            (lambda found=found: found.by_split["zzz"], "unknown split 'zzz'"),
        ):
            with pytest.raises(docmind.DocMindError, match=message):
                wrong()
        assert read.to_pandas().loc["headers+bm25", "hit@3"] == found.metrics["hit@3"]
    assert set(run.to_pandas()) - set(read.to_pandas()) == {"ms"}


@pytest.mark.usefixtures("place")
def test_a_run_is_shown_as_its_table_and_a_record_in_a_few_lines():
    run = evaluate("headers+bm25")
    assert "Hit@3" in repr(run)
    assert "headers+bm25" in repr(run)
    assert run._repr_markdown_().splitlines()[1].startswith("| --- | ---: |")
    for shown in (repr(run), repr(run.record), repr(run["headers+bm25"])):
        assert len(shown) < 1500
        assert "q1" not in shown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("headers", "'headers' is a chunker, and a strategy is a chunker and a mode: write headers+rerank"),
        ("rerank", "'rerank' is a mode, and a strategy is a chunker and a mode: write headers+rerank"),
        (
            "headers+fixed_500",
            "'fixed_500' is a chunker, not a mode; it belongs before the '+', as in fixed_500+rerank",
        ),
        ("hybrid+rerank", "'hybrid' is a mode, not a chunker; it belongs behind the '+', as in headers+hybrid"),
        ("headers+rerank(semantic)", "'semantic' is a chunker, not a mode"),
    ],
)
def test_a_part_in_the_wrong_place_is_told_its_place(name, message):
    with pytest.raises(docmind.DocMindError, match=re.escape(message)):
        strategy(name)
