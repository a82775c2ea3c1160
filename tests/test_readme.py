"""Every figure in README.md, eval/README.md and docs/answers.md comes from results/."""

import re

import pytest
import readme_tables

FILES = {
    "README.md": readme_tables.README,
    "eval/README.md": readme_tables.KEY,
    "docs/answers.md": readme_tables.ANSWERS,
    "docs/side-by-side.md": readme_tables.SIDE,
}


@pytest.mark.parametrize(("file", "mark"), [(file, mark) for file, tables in FILES.items() for mark in tables])
def test_what_stands_between_the_marks_is_made_from_results(file, mark):
    text = (readme_tables.ROOT / file).read_text(encoding="utf-8")
    [found] = re.findall(f"<!-- {mark} -->\n(.*?)\n?<!-- /{mark} -->", text, re.DOTALL)
    assert found == FILES[file][mark]()


def test_the_committed_results_are_of_the_committed_corpus_and_key():
    """Otherwise the tables tell of another handbook."""
    from docmind.corpus import load
    from docmind.evaluation.key.dataset import load_questions
    from docmind.evaluation.record.instrument import instrument
    from docmind.evaluation.scoring.measures import standard

    documents = load(readme_tables.ROOT / "corpus")
    now = instrument(load_questions(readme_tables.ROOT / "eval" / "questions.jsonl", documents), documents, standard())
    kept = readme_tables.baseline().instrument
    assert (kept.answer_key, kept.pages, kept.questions) == (now.answer_key, now.pages, now.questions)
    assert readme_tables.result("answers.json")["fingerprint"]["questions"] == now.questions
