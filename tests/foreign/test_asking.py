"""Many questions to a foreign retriever, what is kept of its replies, and what a recording is worth."""

from __future__ import annotations

import json
import threading

import pytest

from docmind.errors import IncompleteError, StorageError
from docmind.foreign.asking import MOST_ERRORS, Asker
from docmind.foreign.declared import parse
from docmind.foreign.recording import Recorded, recording, write
from docmind.foreign.reply import Asked, Passage, Reply, ReplyError, Step
from docmind.types import Turn

DECLARED = parse("mine", {"url": "http://x", "version": "7"})


class Given:
    """A source that answers from a table; what is not in it is an error."""

    live = True

    def __init__(self, table):
        self.table, self.seen, self.together, self._now, self._lock = table, [], 0, 0, threading.Lock()
        self.gate = threading.Event()

    def ask(self, asked):
        with self._lock:
            self.seen.append(asked)
            self._now += 1
            self.together = max(self.together, self._now)
            if self._now > 1:
                self.gate.set()
        self.gate.wait(0.2)
        with self._lock:
            self._now -= 1
        if asked.text not in self.table:
            raise ReplyError("down")
        return Reply((Passage(self.table[asked.text]),))


def ask_all(source, questions, workers=1):
    asker, told = Asker(source, workers), []
    asker.ask(questions, told.append)
    return asker, told


def questions(n, start=0):
    return [Asked(f"q{i}", 3, str(i)) for i in range(start, start + n)]


def test_every_reply_and_every_error_is_kept_and_progress_told():
    source = Given({"q0": "a", "q2": "c"})
    asker, told = ask_all(source, questions(3))
    assert told == [1, 1, 1]
    assert asker.reply(Asked("q0", 3, "0")).passages == (Passage("a"),)
    with pytest.raises(ReplyError, match="down"):
        asker.reply(Asked("q1", 3, "1"))
    with pytest.raises(ReplyError, match="it was not asked"):
        asker.reply(Asked("q9", 3))


def test_workers_ask_side_by_side():
    source = Given({f"q{i}": "a" for i in range(8)})
    ask_all(source, questions(8), workers=4)
    assert 2 <= source.together <= 4


def test_after_five_errors_one_after_another_the_rest_is_not_asked():
    source = Given({"q3": "a"})
    asker, told = ask_all(source, questions(20))
    assert len(source.seen) == 4 + MOST_ERRORS  # q0 to q2 fail, q3 answers, q4 to q8 fail
    assert len(told) == 20
    assert asker.errors[Asked("q19", 3, "19")] == "not asked, since 5 questions one after another had ended in an error"


def test_asked_again_an_answer_that_differs_is_named_and_an_error_is_another_answer():
    source = Given({f"q{i}": "a" for i in range(4)})
    asker, _ = ask_all(source, questions(4))
    source.table["q1"] = "b"
    del source.table["q2"]
    seconds, other = asker.again(questions(4), lambda done: None)
    assert [asked.id for asked in other] == ["1", "2"]
    assert len(seconds) == 4


ASKED = Asked("how?", 3, "q1", (Turn("user", "hi"),), ("a.md",))
REPLIES = {
    ASKED: Reply((Passage("Ten.", "a.md", 1, 4, 0.5, "x"), Passage(source="b.md")), version="7.1"),
    Asked("when?", 3, "q2"): Reply((), (Step("a", (Passage("Two."),)), Step("b", ()))),
    Asked("ü \u2028", 3, "q3"): Reply(()),
}


@pytest.fixture
def path(tmp_path):
    found = recording(tmp_path / "replies", "mine")
    write(found, "mine", DECLARED, REPLIES, 0)
    return found


def test_what_is_recorded_is_replayed(path):
    recorded = Recorded(path, "mine", DECLARED)
    recorded.check(REPLIES)
    assert {asked: recorded.ask(asked) for asked in REPLIES} == REPLIES
    assert recorded.live is False
    assert len(recorded.treatment["recorded"]) == 64


def test_nothing_is_recorded_where_a_question_ended_in_an_error(path):
    before = path.read_bytes()
    with pytest.raises(IncompleteError, match="nothing was recorded, since 2 questions ended in an error"):
        write(path, "mine", DECLARED, {}, 2)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-20],
        lambda data: data.replace(b"Ten.", b"One."),
        lambda data: data + data.splitlines(keepends=True)[1],
        lambda data: b"".join([*data.splitlines(keepends=True)[:1], *data.splitlines(keepends=True)[:0:-1]]),
        lambda data: data.replace(b"replies/1", b"replies/9"),
        lambda data: b"",
        lambda data: b"\xff\xfe",
        lambda data: b"[]\n",
    ],
)
def test_a_recording_that_is_cut_mixed_or_edited_is_damaged(path, damage):
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StorageError, match=r"Restore it, or record anew|Record anew: docmind eval --record FOLDER\."):
        Recorded(path, "mine", DECLARED)


def test_a_recording_that_does_not_fit_is_incomplete(path, tmp_path):
    with pytest.raises(IncompleteError, match=r"was recorded of version '7'; this run is of '8'\."):
        Recorded(path, "mine", parse("mine", {"url": "http://x", "version": "8"}))
    with pytest.raises(IncompleteError, match=r"was recorded of strategy 'mine'; this run is of 'other'\."):
        Recorded(path, "other", DECLARED)
    with pytest.raises(IncompleteError, match="there is no recording of mine"):
        Recorded(tmp_path / "gone.jsonl", "mine", DECLARED)
    recorded = Recorded(path, "mine", DECLARED)
    with pytest.raises(
        IncompleteError, match=r"has no reply to 1 questions of this run, as they are asked for 3 passages"
    ):
        recorded.check([ASKED, Asked("new?", 3, "q9")])
    with pytest.raises(IncompleteError, match="asked for 50 passages; the first is 'q1'"):
        recorded.check([Asked("how?", 50, "q1", ASKED.history, ASKED.documents)])
    assert json.loads(path.read_text().splitlines()[0])["questions"] == 3
