import hashlib
import json
import re
from pathlib import Path

import pytest

from docmind.corpus.markdown import document
from docmind.errors import AnswerKeyError, IncompleteError, UsageError
from docmind.evaluation.key.dataset import Written, load_questions, read_written
from docmind.types import Document, Question, Section, Span, Turn

SICK = "# Sick\nYou get 10 days.\n"
STUDY = "# Study\nYou get 10 days.\n"
RULES = SICK + STUDY + "## Exam “week”\nTwo days more.\n"
LEAVE = "# Leave\n\nLeave is 25 days.\n\n- Ask first.\n- Then *book* it.\n\n"
LEAVE += "| Code | Days |\n|---|---|\n| A\\|B | 25 |\n| C | 30 |\n"


def section(page: str, title: str, path: tuple[str, ...], start: int, end: int) -> Section:
    heading = Span(page, start + path.index(title) + 2, start + path.index(title) + 2 + len(title))
    return Section(f"{page}#{title}", len(path), title, path, Span(page, start, end), heading)


STARTS = (0, len(SICK), len(SICK + STUDY), len(RULES))
DOCUMENTS = (
    Document(
        "uk/rules.md",
        "Rules",
        RULES,
        sections=(
            section("uk/rules.md", "Sick", ("Sick",), STARTS[0], STARTS[1]),
            section("uk/rules.md", "Study", ("Study",), STARTS[1], STARTS[2]),
            section("uk/rules.md", "Exam “week”", ("Study", "Exam “week”"), STARTS[2], STARTS[3]),
        ),
    ),
    Document("leave.md", "Leave", LEAVE),
    Document("spain.md", "Spain", "In Spain, leave is 25 days.\n"),
)
BOOK = {"id": "q1", "question": "How?", "source": "leave.md", "evidence": "Then book it."}


@pytest.fixture
def load(tmp_path: Path):
    """Loads lines, objects or text, from an answer key of that many lines."""

    def from_lines(*lines: object, **filters: list[str]):
        path = tmp_path / "questions.jsonl"
        path.write_text("".join(f"{x if isinstance(x, str) else json.dumps(x)}\n" for x in lines), encoding="utf-8")
        return load_questions(path, DOCUMENTS, **filters)

    return from_lines


def texts(question: Question) -> list[list[str]]:
    """For each piece the text of its alternatives."""
    pages = {document.id: document.text for document in DOCUMENTS}
    return [[pages[s.doc_id][s.start : s.end] for s in piece.spans] for piece in question.gold]


def test_the_full_form(load) -> None:
    line = {
        "id": "p014",
        "type": "paraphrase",
        "question": "How long?",
        "answer": "25 days",
        "split": "dev",
        "author": "ai",
        "reviewed_by_human": True,
        "history": [{"role": "user", "text": "Hello"}],
        "doc_ids": ["leave.md", "spain.md", "uk/rules.md"],
        "gold": [
            {"source": "uk/rules.md", "evidence": "10 days", "section": "Study"},
            {
                "any": [
                    {"source": "leave.md", "evidence": "25 days."},
                    {"source": "spain.md", "evidence": "leave is 25 days"},
                ]
            },
        ],
    }
    key = load("", line)
    [question] = key.questions
    assert texts(question) == [["10 days"], ["25 days.", "leave is 25 days"]]
    assert question.gold[0].spans == (Span("uk/rules.md", RULES.rindex("10 days"), RULES.rindex("10 days") + 7),)
    assert (question.id, question.type, question.text, question.answer) == (
        "p014",
        "paraphrase",
        "How long?",
        "25 days",
    )
    assert (question.split, question.author, question.reviewed_by_human) == ("dev", "ai", True)
    assert question.history == (Turn("user", "Hello"),)
    assert question.doc_ids == {"leave.md", "spain.md", "uk/rules.md"}
    assert question.line == 2
    assert key.warnings == ()


def test_the_short_form_and_its_other_pages(load) -> None:
    line = {"id": "q", "question": "Why?", "source": "leave.md", "evidence": "25 days.", "also_in": ["spain.md"]}
    [question] = load(line).questions
    assert [[s.doc_id for s in piece.spans] for piece in question.gold] == [["leave.md", "spain.md"]]
    assert (question.type, question.split, question.answer, question.doc_ids) == (None, None, None, None)
    assert question.reviewed_by_human is False


@pytest.mark.parametrize("none", [{"source": None, "evidence": None}, {"gold": []}, {"gold": None}])
def test_an_unanswerable_question_has_no_gold(load, none: dict) -> None:
    [question] = load({"id": "q", "question": "Why?", **none}).questions
    assert question.gold == ()


def test_the_checksum_is_of_the_files_bytes_and_a_mark_at_its_start_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(BOOK).encode() + b"\r\n\r\n")
    key = load_questions(path, DOCUMENTS)
    assert key.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert key.questions[0].line == 1


def test_a_line_separator_inside_a_text_ends_no_line(load) -> None:
    [question] = load(json.dumps({**BOOK, "question": "How\u2028now?"}, ensure_ascii=False)).questions
    assert question.text == "How\u2028now?"


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ("25 days.\n\n- Ask first.", "25 days.\n\n- Ask first."),
        ("Leave is 25 days. Ask first. Then book it.", "Leave is 25 days.\n\n- Ask first.\n- Then *book* it."),
        ("| A\\|B | 25 |", "A\\|B | 25"),
        ("| A\\|B | 25 |\n| C | 30 |", "A\\|B | 25 |\n| C | 30"),
        ("Then **book** it.", "Then *book* it."),
        ("    - Then [book](/book) it.", "Then *book* it."),
    ],
)
def test_evidence_is_found_across_marks_of_lists_tables_and_emphasis(load, evidence: str, found: str) -> None:
    [question] = load({**BOOK, "evidence": evidence}).questions
    [[text]] = texts(question)
    assert text.strip("| ") == found


def test_code_is_found_though_it_is_quoted_without_its_fence(tmp_path: Path) -> None:
    text = "```html\n<b>Book</b> <!-- here -->\n```"
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({**BOOK, "evidence": "<b>Book</b>"}), encoding="utf-8")
    [question] = load_questions(path, [Document("leave.md", "Leave", text)]).questions
    assert question.gold[0].spans == (Span("leave.md", 8, 19),)


def test_every_place_counts_and_is_told_unless_a_section_names_one(load, caplog) -> None:
    line = {"id": "q", "question": "How many study days?", "source": "uk/rules.md", "evidence": "10 days"}
    key = load(BOOK, line)
    assert [span.start for span in key.questions[1].gold[0].spans] == [m.start() for m in re.finditer("10 d", RULES)]
    [warning] = key.warnings
    assert "questions.jsonl:2: q: evidence '10 days' stands 2 times in uk/rules.md" in warning
    assert caplog.messages == [warning]
    key = load({**line, "section": "study"})
    assert [span.start for span in key.questions[0].gold[0].spans] == [RULES.rindex("10 days")]
    assert key.warnings == ()


@pytest.mark.parametrize("title", ["Study", 'exam "week"', "Exam  “week”"])
def test_a_section_is_any_title_above_the_evidence_whatever_its_typography(load, title: str) -> None:
    [question] = load({**BOOK, "source": "uk/rules.md", "evidence": "Two days more.", "section": title}).questions
    assert texts(question) == [["Two days more."]]


def gold(**place: object) -> dict:
    return {"id": "q1", "question": "Why?", "gold": [{"source": "leave.md", "evidence": "Ask first.", **place}]}


FAULTS = {
    "no JSON": ('{"id": "q1",', 'questions.jsonl:2: \'{"id": "q1",\' is not JSON'),
    "no JSON but deep": ("[" * 5000, "is not JSON"),
    "half a character": ('{"id": "\\ud800"}', "is not JSON"),
    "no object": ("[1, 2]", "questions.jsonl:2: [1, 2] is no JSON object. Write an object with"),
    "no id": ({k: BOOK[k] for k in BOOK if k != "id"}, "questions.jsonl:2: 'id' is missing. Add it."),
    "no question": ({"id": "q1", "gold": []}, "questions.jsonl:2: q1: 'question' is missing"),
    "no gold": ({"id": "q1", "question": "Why?"}, "q1: 'source' is missing. Add it (null if the question cannot"),
    "no evidence": ({**BOOK, "evidence": None}, "expected: source and evidence together, or both null"),
    "a section of nothing": (
        {"id": "q1", "question": "Why?", "source": None, "evidence": None, "section": "Pay"},
        "expected: no section and no also_in where there is no evidence",
    ),
    "unknown key": ({**BOOK, "typ": "direct"}, "q1: unknown key 'typ'. Did you mean 'type'? There are: id, question,"),
    "unknown key in a piece": (gold(sectoin="Pay"), "unknown key 'gold[0].sectoin'. Did you mean 'section'?"),
    "both forms": ({**BOOK, "gold": []}, "unknown key 'evidence'. There are: id, question,"),
    "number for text": ({**BOOK, "question": 7}, "q1: question is 7; expected: a valid string."),
    "no word": (
        {**BOOK, "question": "???"},
        "question is '???'; expected: a question that holds a word, as whoever asks the documents needs one.",
    ),
    "blank text": ({**BOOK, "question": " "}, "question is ' '; expected: text that is not blank."),
    "text for truth": ({**BOOK, "reviewed_by_human": "no"}, "reviewed_by_human is 'no'; expected: a valid boolean."),
    "unknown split": ({**BOOK, "split": "tset"}, "split is 'tset'; expected: 'dev' or 'test'."),
    "text for a list": ({**BOOK, "also_in": "x.md"}, "also_in is 'x.md'; expected: a valid list."),
    "unknown role": (
        {**BOOK, "history": [{"role": "system", "text": "x"}]},
        "history[0].role is 'system'; expected: 'user' or 'assistant'.",
    ),
    "unknown key in a turn": (
        {**BOOK, "history": [{"role": "user", "txt": "x"}]},
        "unknown key 'history[0].txt'. Did you mean 'text'? There are: role, text.",
    ),
    "a piece that is text": ({"id": "q1", "question": "Why?", "gold": ["x"]}, "gold[0] is 'x'; expected: a valid dict"),
    "no alternatives": ({"id": "q1", "question": "Why?", "gold": [{"any": []}]}, "gold[0].any is []; expected:"),
    "a bad alternative": (
        {"id": "q1", "question": "Why?", "gold": [{"any": [{"source": "leave.md", "evidense": "Ask"}]}]},
        "unknown key 'gold[0].any[0].evidense'. Did you mean 'evidence'?",
    ),
    "unknown source": (
        {**BOOK, "source": "leaves.md"},
        "q1: unknown source 'leaves.md': a page's path below the corpus folder was expected. Did you mean 'leave.md'?",
    ),
    "unknown other page": ({**BOOK, "also_in": ["spian.md"]}, "unknown source 'spian.md'"),
    "unknown filter": ({**BOOK, "doc_ids": ["leave.md", "spian.md"]}, "unknown source 'spian.md'"),
    "gold outside the filter": (
        {**BOOK, "doc_ids": ["spain.md"]},
        "'leave.md' holds evidence, but is not among doc_ids",
    ),
    "evidence not there": (
        {**BOOK, "evidence": "Leave is 26 days."},
        "q1: evidence 'Leave is 26 days.' is not in leave.md. The nearest text there is 'Leave is 25 days'.",
    ),
    "evidence not in the other page": (
        {**BOOK, "also_in": ["spain.md"]},
        "evidence 'Then book it.' is not in spain.md",
    ),
    "evidence that is all marks": ({**BOOK, "evidence": "**"}, "evidence '**' holds no letter and no digit. Quote"),
    "unknown section": (
        {**BOOK, "source": "uk/rules.md", "evidence": "10 days", "section": "Studies"},
        "uk/rules.md has no section 'Studies': the title of a heading above the evidence was expected. "
        "Did you mean 'Study'?",
    ),
    "evidence in another section": (
        {**BOOK, "source": "uk/rules.md", "evidence": "Two days more.", "section": "Sick"},
        "is in uk/rules.md, but not in its section 'Sick'. It stands in 'Exam “week”': name one of them.",
    ),
    "the same id twice": ({**BOOK, "id": "q0"}, "questions.jsonl:2: q0: the id 'q0' stands in line 1 already."),
}


@pytest.mark.parametrize(("line", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_names_line_id_value_and_what_was_expected(load, line: object, message: str) -> None:
    with pytest.raises(AnswerKeyError) as raised:
        load({**BOOK, "id": "q0"}, line)
    assert message in str(raised.value)
    assert "questions.jsonl:2: " in str(raised.value)


def test_all_faults_are_told_at_once_up_to_twenty(load) -> None:
    bad = [{**BOOK, "id": f"q{i}", "source": "x.md"} for i in range(22)]
    with pytest.raises(AnswerKeyError) as raised:
        load(*bad, {"id": "z", "typ": 1})
    first, *told, last = str(raised.value).splitlines()
    assert first.endswith("questions.jsonl: faults in the answer key: 26")
    assert [line.split("questions.jsonl:")[1].split(":")[0] for line in told] == [str(i) for i in range(1, 21)]
    assert last == "and 6 more"


def test_several_faults_of_one_line_are_all_told(load) -> None:
    with pytest.raises(AnswerKeyError) as raised:
        load({"id": "q", "split": "tset", "author": 3, "gold": [], "typ": 1})
    told = [line.split(": q: ")[1] for line in str(raised.value).splitlines()[1:]]
    assert [fault.split(". ")[0] for fault in told] == [
        "'question' is missing",
        "split is 'tset'; expected: 'dev' or 'test'.",
        "author is 3; expected: a valid string.",
        "unknown key 'typ'",
    ]


def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(json.dumps(BOOK).encode() + b'\n{"id": "\xe9"}\n')
    with pytest.raises(AnswerKeyError, match=r"q\.jsonl:2: the byte 0xe9 is not UTF-8"):
        load_questions(path, DOCUMENTS)


def test_a_missing_file_is_an_error_and_an_empty_one_incomplete(tmp_path: Path, load) -> None:
    with pytest.raises(AnswerKeyError, match=r"none\.jsonl: the answer key cannot be read: No such file"):
        load_questions(tmp_path / "none.jsonl", DOCUMENTS)
    with pytest.raises(IncompleteError, match="holds no question"):
        load("", "  ")


FAQ = "# Leave\n\nYou get 10 days a year.\n\nAsk your lead first.\n"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "v1/leave.md, v2/leave.md too"),
        ({"also_in": ["v1/leave.md"]}, "stands word for word in v2/leave.md too"),
        ({"also_in": ["v1/leave.md", "v2/leave.md"]}, None),
        ({"doc_ids": ["hr/faq.md", "other.md"]}, None),
        ({"doc_ids": ["hr/faq.md", "v2/leave.md"]}, "stands word for word in v2/leave.md too"),
        ({"evidence": "Ask your lead first."}, None),
        ({"evidence": "10 days a year. Ask your lead"}, None),
        ({"evidence": "10 days a year", "section": "Leave"}, "v1/leave.md, v2/leave.md too"),
    ],
)
def test_a_page_that_says_the_same_and_is_not_listed_is_told(
    tmp_path: Path, caplog, more: dict, told: str | None
) -> None:
    pages = {
        "hr/faq.md": FAQ,
        "v1/leave.md": FAQ.replace("Ask", "Never ask"),
        "v2/leave.md": "Before it.\n\nYou get 10\ndays a year.\n",
        "other.md": "Some say: You get 10 days a year.",
    }
    path = tmp_path / "q.jsonl"
    line = {"id": "q", "question": "Where?", "source": "hr/faq.md", "evidence": "10 days", **more}
    path.write_text(json.dumps(line), encoding="utf-8")
    warnings = load_questions(path, [document(name, text) for name, text in pages.items()]).warnings
    assert list(warnings) == caplog.messages
    assert len(warnings) == (told is not None)
    if told:
        assert warnings[0].startswith(f"{path}:1: q: what is around evidence ")
        assert told in warnings[0]
        assert warnings[0].endswith("Name it in also_in, or limit the question by doc_ids.")


NAMED = ("\u00dcber.md", "U\u0308ber.md")


@pytest.mark.parametrize("name", NAMED)
def test_a_page_is_found_however_its_name_is_composed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "q.jsonl"
    lines = [
        {"id": "a", "question": "Where?", "source": name, "evidence": "25 days", "also_in": [name], "doc_ids": [name]},
        {"id": "b", "question": "Where?", "gold": [{"any": [{"source": name, "evidence": "25 days"}]}]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    key = load_questions(path, [Document(NAMED[0], "", "25 days")])
    assert {span.doc_id for question in key.questions for piece in question.gold for span in piece.spans} == {NAMED[0]}
    assert key.questions[0].doc_ids == {NAMED[0]}


def test_ids_and_types_are_one_however_they_are_composed(load) -> None:
    line = {**BOOK, "id": "e\u0301", "type": "u\u0308"}
    for id_, type_ in (("\u00e9", "u\u0308"), ("e\u0301", "\u00fc")):
        [question] = load(line, ids=[id_], types=[type_]).questions
        assert (question.id, question.type) == ("\u00e9", "\u00fc")
    with pytest.raises(AnswerKeyError, match="the id '\u00e9' stands in line 1 already"):
        load(line, {**line, "id": "\u00e9"})


def test_why_there_is_no_such_page_is_told(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({**BOOK, "source": "leave.rst"}), encoding="utf-8")
    with pytest.raises(
        AnswerKeyError, match=r"unknown source 'leave.rst': it is leave.rst\. Did you mean 'leave.md'\?"
    ):
        load_questions(path, DOCUMENTS, why_left_out="it is {}".format)


TYPED = [{**BOOK, "id": "a", "type": "direct"}, {**BOOK, "id": "b", "type": "vague"}, {**BOOK, "id": "c"}]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"types": ["direct", "vague"]}, ["a", "b"]),
        ({"ids": ["c", "a"]}, ["a", "c"]),
        ({"types": ["direct"], "ids": ["a", "c"]}, ["a"]),
    ],
)
def test_filters_keep_the_order_of_the_file(load, filters: dict, left: list[str]) -> None:
    assert [question.id for question in load(*TYPED, **filters).questions] == left


def test_a_filter_that_leaves_nothing_tells_what_there_is(load) -> None:
    with pytest.raises(IncompleteError, match=r"types: odd; ids: any.*types direct, vague, and 3 ids from 'a' to 'c'"):
        load(*TYPED, types=["odd"])
    with pytest.raises(IncompleteError):
        load(*TYPED, types=["direct"], ids=["b"])


def test_a_filter_that_is_partly_unknown_is_a_wrong_name(load) -> None:
    with pytest.raises(UsageError, match=r"no question has the type 'vauge'\. Did you mean 'vague'\?"):
        load(*TYPED, types=["direct", "vauge"])


def test_a_fault_outside_the_filter_is_told_all_the_same(load) -> None:
    with pytest.raises(AnswerKeyError):
        load(*TYPED, {**BOOK, "id": "d", "source": "x.md"}, ids=["a"])


def test_a_key_is_read_as_it_is_written_without_any_document(tmp_path: Path) -> None:
    path = tmp_path / "key.jsonl"
    either = {"any": [{"source": "x.md", "evidence": "one"}, {"source": "y.md", "evidence": "other"}]}
    lines = [
        {"id": "a", "question": "Which?", "type": "direct", "gold": [either, {"source": "z.md", "evidence": "two"}]},
        {"id": "b", "question": "Whose?", "source": "x.md", "evidence": "three"},
        {"id": "c", "question": "Where?", "source": None, "evidence": None},
    ]
    path.write_text("\n\n".join(map(json.dumps, lines)))
    assert read_written(path) == (
        Written("a", "Which?", "direct", 1, (("x.md", "one"), ("z.md", "two"))),
        Written("b", "Whose?", None, 3, (("x.md", "three"),)),
        Written("c", "Where?", None, 5, ()),
    )
    path.write_text(f"{json.dumps(lines[1])}\n{json.dumps(lines[1])}\n{{}}")
    with pytest.raises(
        AnswerKeyError, match=r"(?s)faults in the answer key: 5.*the id 'b' stands in line 1 already.*:3: 'id'"
    ):
        read_written(path)
    path.write_text("")
    with pytest.raises(IncompleteError, match="holds no question"):
        read_written(path)
