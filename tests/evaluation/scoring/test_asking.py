import random

import pytest

from docmind.errors import IncompleteError, ModelError
from docmind.evaluation.scoring.asking import distinct, run
from docmind.evaluation.scoring.measures import standard
from docmind.evaluation.scoring.score import score
from docmind.types import Gold, Hit, Ranking

TOKENS = len


def test_outcomes_stand_in_the_order_of_the_questions_with_ranks_by_piece(chunks, gold_in, ask, scripted) -> None:
    a, b, c = chunks[:3]
    questions = [ask("q2", gold_in(b), gold_in(c)), ask("q1", gold_in(a)), ask("none")]
    told: list[int] = []
    done = run("s", scripted({"q1": [b, a], "q2": [a, b], "none": [c]}), questions, advance=told.append)
    assert [(o.question_id, o.ranks) for o in done.outcomes] == [("q2", (2, None)), ("q1", (2,)), ("none", ())]
    assert told == [1, 1, 1]


def test_a_retriever_is_asked_for_ten(chunks, ask, scripted) -> None:
    [outcome] = run("s", scripted({"q": [*chunks, chunks[0]]}), [ask("q")]).outcomes
    assert len(outcome.ranking.hits) == 10


def test_duplicates_are_removed_and_reported(chunks, gold_in, ask, scripted, caplog) -> None:
    """[a, a, b, a] is [a, b], so b stands at rank 2."""
    a, b = chunks[:2]
    [outcome] = run("s", scripted({"q": [a, a, b, a]}), [ask("q", gold_in(b), line=7)]).outcomes
    assert outcome.ranks == (2,)
    assert [(hit.chunk, hit.rank) for hit in outcome.ranking.hits] == [(a, 1), (b, 2)]
    assert caplog.messages == ["s, question q (line 7): 2 repeated hits removed before scoring"]


def test_distinct_keeps_the_first_of_each_chunk(chunks, listed) -> None:
    assert distinct(listed([])) == ()
    assert [hit.score for hit in distinct(listed([chunks[0], chunks[0], chunks[1]]))] == [1, 1 / 3]


def test_an_exception_is_the_outcome_of_its_question_alone(chunks, gold_in, ask, scripted, caplog) -> None:
    script = {f"q{i}": ValueError("no vector") if i % 3 == 0 else [chunks[0]] for i in range(6)}
    questions = [ask(id_, gold_in(chunks[0])) for id_ in script]
    outcomes = run("s", scripted(script), questions).outcomes
    assert [o.question_id for o in outcomes if o.error] == ["q0", "q3"]
    assert outcomes[0].error == "ValueError: no vector"
    assert (outcomes[0].ranking, outcomes[0].ranks, outcomes[1].ranks) == (None, (), (1,))
    assert "s, question q0 (line 0): ValueError: no vector" in caplog.messages


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), ModelError("out of reach")])
def test_what_is_no_fault_of_one_question_ends_the_run(error: BaseException, ask, scripted) -> None:
    with pytest.raises(type(error)):
        run("s", scripted({"q": error}), [ask("q")])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_an_error(value: float, chunks, ask) -> None:
    class Broken:
        depth = None

        def retrieve(self, query: object, k: int) -> Ranking:
            return Ranking((Hit(chunks[0], value, 1),))

    [outcome] = run("s", Broken(), [ask("q")]).outcomes
    assert outcome.error is not None
    assert str(value) in outcome.error


@pytest.mark.parametrize("known", [True, False])
def test_context_that_the_retriever_does_not_tell_of_is_an_error_and_no_hit(known: bool, chunks, gold_in, ask) -> None:
    """The second chunk holds the gold. What is graded has to be in ceilings and in the files of relevant chunks too."""

    class Around:
        depth = None

        def retrieve(self, query: object, k: int) -> Ranking:
            return Ranking((Hit(chunks[0], 1.0, 1, (chunks[1],)),))

        def context(self, chunk: object) -> tuple[object, ...]:
            return (chunks[1],) if known else (chunks[2],)

    [outcome] = run("s", Around(), [ask("q", gold_in(chunks[1]))]).outcomes
    assert outcome.ranks == ((1,) if known else ())
    assert (outcome.error is None) == known
    if not known:
        assert outcome.error == (
            f"ValueError: chunk {chunks[0].id} at rank 1 has context that context(chunk) does not tell of"
        )


def test_means_are_over_every_answerable_question(chunks, gold_in, ask, scripted) -> None:
    """Of four answerable questions one is found first, one second, one never and one gets no hits at all. Hit@3 = 2/4,
    MRR@5 = (1 + 1/2) / 4. The unanswerable one counts nowhere."""
    a, b = chunks[:2]
    questions = [ask(id_, gold_in(a)) for id_ in ("first", "second", "lost", "empty")] + [ask("none")]
    script = {"first": [a], "second": [b, a], "lost": [b], "empty": [], "none": [a]}
    scores = score(run("s", scripted(script), questions), questions, standard(), TOKENS)
    assert scores.overall.n == 4
    assert scores.overall.metrics["hit@3"] == 2 / 4
    assert scores.overall.metrics["mrr@5"] == 1.5 / 4
    assert (scores.by_type, scores.by_split, scores.errors) == ({}, {}, {})


def test_slices_hold_the_answerable_questions_that_name_them(chunks, gold_in, ask, scripted) -> None:
    a, b = chunks[:2]
    questions = [
        ask("q1", gold_in(a), type="direct", split="dev"),
        ask("q2", gold_in(a), type="direct", split="test"),
        ask("q3", gold_in(a), type="vague"),
        ask("q4", gold_in(a)),
        ask("q5", type="unanswerable", split="dev"),
    ]
    script = {"q1": [a], "q2": [b], "q3": [a], "q4": [b], "q5": [a]}
    scores = score(run("s", scripted(script), questions), questions, standard(), TOKENS)
    hits = {name: (part.n, part.metrics["hit@1"]) for name, part in {**scores.by_type, **scores.by_split}.items()}
    assert hits == {"direct": (2, 1 / 2), "vague": (1, 1), "dev": (1, 1), "test": (1, 0)}
    assert scores.overall.n == 4


def test_a_metric_that_one_question_does_not_define_has_no_mean(chunks, gold_in, ask, scripted) -> None:
    questions = [ask("spans", gold_in(chunks[0])), ask("document", Gold(doc_id="page.md"))]
    scores = score(
        run("s", scripted(dict.fromkeys(["spans", "document"], chunks)), questions), questions, standard(), TOKENS
    )
    assert scores.overall.metrics["span_recall@5"] is None
    assert scores.overall.metrics["hit@1"] == 1


def test_one_error_leaves_no_metrics(chunks, gold_in, ask, scripted) -> None:
    """Not even where the question is unanswerable: the run is not what was asked for."""
    questions = [ask("q1", gold_in(chunks[0]), type="direct", split="dev"), ask("none")]
    done = run("s", scripted({"q1": [chunks[0]], "none": ValueError("x")}), questions)
    scores = score(done, questions, standard(), TOKENS)
    assert scores.overall is None
    assert (scores.by_type, scores.by_split) == ({}, {})
    assert scores.errors == {"none": "ValueError: x"}


def test_a_question_without_outcome_is_not_left_out_of_the_mean(chunks, gold_in, ask, scripted) -> None:
    asked = ask("q1", gold_in(chunks[0]))
    done = run("s", scripted({"q1": [chunks[0]]}), [asked])
    with pytest.raises(IncompleteError, match="no outcome for 1 of 2 questions, 'q2'"):
        score(done, [asked, ask("q2", gold_in(chunks[0]))], standard(), TOKENS)


def test_nothing_answerable_is_nothing_to_score(chunks, ask, scripted) -> None:
    questions = [ask("none")]
    with pytest.raises(IncompleteError, match="none of 1 questions has gold"):
        score(run("s", scripted({"none": [chunks[0]]}), questions), questions, standard(), TOKENS)


def test_the_order_of_the_questions_changes_no_bit(chunks, gold_in, ask, scripted) -> None:
    """MRR over ranks 1 to 10 sums thirds and sevenths, whose float sum depends on the order."""
    generator = random.Random(5)
    questions = [ask(f"q{i}", gold_in(chunks[generator.randrange(10)])) for i in range(60)]
    retriever = scripted({q.text: generator.sample(chunks, 10) for q in questions})
    scores = score(run("s", retriever, questions), questions, standard(), TOKENS)
    for _ in range(5):
        generator.shuffle(questions)
        assert score(run("s", retriever, questions), questions, standard(), TOKENS) == scores


def test_tokens_are_those_of_what_is_shown(page, chunks, gold_in, ask) -> None:
    """Chunk and neighbour are 100 characters each, and a blank line between them: 202 'tokens' a hit, so that four
    fit 1,000 and gold in the fifth does not."""

    class WithNeighbours:
        depth = None

        def retrieve(self, query: object, k: int) -> Ranking:
            return Ranking(tuple(Hit(chunk, -rank, rank, (chunks[9],)) for rank, chunk in enumerate(chunks[:5], 1)))

        def context(self, chunk: object) -> tuple[object, ...]:
            return (chunks[9],)

    questions = [ask("fourth", gold_in(chunks[3])), ask("fifth", gold_in(chunks[4]))]
    scores = score(run("s", WithNeighbours(), questions), questions, standard(), len)
    assert scores.overall.metrics["hit@1000tok"] == 1 / 2
    assert scores.overall.metrics["hit@5"] == 1
