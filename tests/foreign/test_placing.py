from __future__ import annotations

import random
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmind.corpus import markdown
from docmind.foreign import placing
from docmind.foreign.placing import Placed, Placer
from docmind.foreign.reply import Passage
from docmind.markup import clean
from docmind.types import Document, Span, overlap

LEAVE = """# Leave

You have 25 days of annual leave a year. They count from your first day, and in your first year by month.

## Carrying over

Up to five days may be carried over, and they lapse on 31 March. Ask your manager before the year ends.

| Country | Annual leave | Carried over | Lapses on |
|:--------|-------------:|-------------:|:----------|
| Austria | 25 days | all | after two years |
| Belgium | 20 days | none | – |
| Italy | 26 days | 14 days | after 18 months |
"""
PAY = """# Pay

Salaries are paid on the 25th of each month, or on the working day before.

## Carrying over

Unpaid bonus is carried over into the next year only if your manager asks for it.
"""
FOOTER = "\nThis page is kept by the People Team, who answer within two working days.\n"
PAGES = [
    markdown.document("hr/leave.md", LEAVE + FOOTER),
    markdown.document("hr/pay.md", PAY + FOOTER),
    markdown.document("travel.md", "# Travel\n\nFirst class is for journeys of more than three hours." + FOOTER),
]


def place(text="", source=None, start=None, end=None, documents=PAGES):
    return Placer(documents).place(Passage(text, source, start, end))


def texts(placed, documents=PAGES):
    of = {document.id: document.text for document in documents}
    return [of[span.doc_id][span.start : span.end] for span in placed.spans]


def found(text, page, source=None):
    """What `text` shows of a page that is the only one."""
    return texts(place(text, source, documents=[Document("a", "A", page)]), [Document("a", "A", page)])


def at(page, text):
    document = next(each for each in PAGES if each.id == page)
    start = document.text.index(text)
    return Span(page, start, start + len(text))


SENTENCE = "You have 25 days of annual leave a year."
COUNTED = "They count from your first day, and in your first year by month."


class TestOffsets:
    def test_they_are_taken_where_they_hold_the_words(self):
        span = at("hr/leave.md", SENTENCE)
        assert place(SENTENCE, "hr/leave.md", span.start, span.end) == Placed((span,), "offsets")
        assert place(SENTENCE.upper(), "leave.md", span.start, span.end) == Placed((span,), "offsets")

    def test_a_text_before_them_is_allowed(self):
        span = at("hr/leave.md", COUNTED)
        prefix = "This chunk is from the handbook of a company and is about how leave is counted:\n"
        assert place(prefix + COUNTED, "hr/leave.md", span.start, span.end) == Placed((span,), "offsets")

    @pytest.mark.parametrize("by", [-9, 9, 10_000, -10_000])
    def test_those_of_another_text_do_not_count(self, by):
        span = at("hr/leave.md", COUNTED)
        assert place(COUNTED, "hr/leave.md", span.start + by, span.end + by) == Placed((span,), "source")

    def test_without_a_text_they_are_clipped(self):
        length = len(PAGES[0].text)
        assert place(source="hr/leave.md", start=3, end=9) == Placed((Span("hr/leave.md", 3, 9),), "offsets")
        assert place(source="hr/leave.md", start=length - 2, end=length + 9).spans[0].end == length
        assert place(source="hr/leave.md", start=-5, end=4) == Placed((Span("hr/leave.md", 0, 4),), "offsets")
        assert place(" \n", "hr/leave.md", 3, 9).how == "offsets"

    @pytest.mark.parametrize(("start", "end"), [(10**6, 10**6 + 5), (-9, 0), (7, 7), (9, 3)])
    def test_outside_of_the_document_is_nowhere(self, start, end):
        assert place(source="hr/leave.md", start=start, end=end) == Placed((), "nowhere")

    def test_of_an_unknown_source_they_say_nothing(self):
        assert place(source="nothing.md", start=0, end=5) == Placed((), "nowhere")
        assert place(COUNTED, "nothing.md", 0, 5) == Placed((at("hr/leave.md", COUNTED),), "anywhere")


class TestSource:
    def test_alone_it_is_the_whole_document(self):
        assert place(source="travel.md") == Placed((Span("travel.md", 0, len(PAGES[2].text)),), "document")

    def test_of_no_document_or_an_empty_one_it_is_nowhere(self):
        assert place(source="nothing.md").how == "nowhere"
        assert place(source="a", documents=[Document("a", "A", "")]) == Placed((), "nowhere")
        assert place() == Placed((), "nowhere")

    def test_it_decides_between_equal_texts(self):
        footer = FOOTER.strip()
        assert place(footer, "hr/pay.md") == Placed((at("hr/pay.md", footer),), "source")

    @pytest.mark.parametrize("source", [None, "nothing.md", ""])
    def test_without_it_all_equal_texts_count(self, source):
        footer = FOOTER.strip()
        ids = ["hr/leave.md", "hr/pay.md", "travel.md"]
        assert place(footer, source) == Placed(tuple(at(page, footer) for page in ids), "anywhere")

    def test_a_text_that_is_not_in_it_is_looked_for_anywhere(self):
        assert place(COUNTED, "travel.md") == Placed((at("hr/leave.md", COUNTED),), "anywhere")


BULLETS = "* Use **mail** and `git push --force` lightly\n* Ask [the “IT” desk](it.md) — first\n"


class TestWords:
    @pytest.mark.parametrize(
        ("text", "page"),
        [
            ("You may carry over five days, no more.", "You may carry\nover   five\r\ndays, no more."),
            ("Ärzte schließen um fünf Uhr dreißig", "Ärzte schließen um fünf Uhr dreißig"),
            ("ÄRZTE SCHLIESSEN UM FÜNF UHR DREISSIG", "Ärzte schließen um fünf Uhr dreißig"),
            (unicodedata.normalize("NFD", "Ärzte schließen um fünf Uhr früh"), "Ärzte schließen um fünf Uhr früh"),
            ("Ärzte schließen um fünf Uhr früh", unicodedata.normalize("NFD", "Ärzte schließen um fünf Uhr früh")),
            ("Ur\u00adlaubs\u00adan\u00adspruch gilt nur für volle Jahre", "Urlaubsanspruch gilt nur für volle Jahre"),
            ("Urlaubsanspruch gilt nur für volle Jahre", "Ur\u00adlaubs\u200ban\u00adspruch gilt nur für volle Jahre"),
            ("ngày nghỉ phép năm là hai mươi", "Ngày nghỉ phép năm là hai mươi"),
            ("员工每年有二十五天带薪年假，", "员工每年有二十五天带薪年假，"),
            ("员工每年有 二十五天\n带薪年假", "员工每年有二十五天带薪年假"),
            ("พนักงานมีวันลาพักร้อนปีละยี่สิบห้าวัน", "พนักงานมีวันลาพักร้อนปีละยี่สิบห้าวัน"),
            ("従業員は年に２５日の休暇があります", "従業員は年に25日の休暇があります"),
            ("직원은 매년 25일의 연차가 있습니다", "직원은 매년 25일의 연차가 있습니다"),
            ("сотрудник имеет 25 дней отпуска в год", "Сотрудник имеет 25 дней отпуска в год"),
            ("1,350.50 € on 2026-03-31 at 17:30", "1,350.50 € on 2026-03-31 at 17:30"),
            ("of\ufb01ce hours and \ufb02exible days for all", "office hours and flexible days for all"),
            ('say "no" to Quendravo\'s rule at once', "say “no” to Quendravo’s rule at once"),
            ("def days_left(x): return max(0, x - 25)", "def days_left(x):\n        return max(0, x - 25)"),
            (r"set days\_left and max\_days in the file", "set days_left and max_days in the file"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("around", ["", "Something else stands before it.\n\n"])
    def test_typography_does_not_matter(self, text, page, around):
        (shown,) = found(text, around + page + "\n\nAnd behind.")
        assert shown == page

    @pytest.mark.parametrize(
        "text",
        [
            "Use mail and git push --force lightly Ask the IT desk first",
            "- Use *mail* and git push --force lightly\n- Ask the \"IT\" desk - first",
            "<li>Use <b>mail</b> and <code>git push --force</code> lightly<li>Ask <a href='it.md'>the IT desk</a> first",
            "* Use **mail** and `git push --force` lightly\n* Ask [the “IT” desk](it.md \"Title of the link\") — first",
        ],
    )  # fmt: skip
    def test_marks_do_not_matter(self, text):
        page = clean(BULLETS).text
        assert found(text, page) == [page.strip()]

    @pytest.mark.parametrize(
        "text",
        ["Sign it\nSend it\nPay the fee\nKeep a copy", "1. Sign it 2. Send it 3. Pay the fee 4. Keep a copy"],
    )
    def test_numbers_of_a_list_do_not_matter(self, text):
        page = "## 1. Steps\n\n1. Sign it\n2. Send it\n3. Pay the fee\n4. Keep a copy\n"
        assert found(text, page) == [page[page.index("Sign it") :].strip()] or found(text, page) == [
            page[page.index("1. Sign it") :].strip()
        ]

    def test_a_raw_html_table_is_read_as_its_reader_does(self):
        raw = "<table><tr><th>Country</th><th>Days</th></tr><tr><td>Spain &amp; Italy</td><td>22 <b>days</b></td></tr></table>"
        page = clean(raw + "\n\nMore.").text
        assert found(raw, page) == [page[: page.index("\n\nMore")]]

    def test_words_are_whole(self):
        assert found("10 days", "It is 110 days, or 10 days a year.") == ["10 days,", "10 days"][1:]
        assert found("10 days", "It is 110 days.") == []
        assert found("you have 10 days left now", "it says you have 10 days left nowhere else") == [
            "you have 10 days left now"
        ]


class TestRuns:
    def test_a_repeated_head_and_later_rows(self):
        lines = LEAVE.splitlines()
        head, rows = "\n".join(lines[8:10]), lines[12]
        assert texts(place("| Country | Annual leave | Carried over | Lapses on |\n|-|-|-|-|\n" + rows)) == [head, rows]

    def test_a_short_head_is_that_of_the_table(self):
        page = "| A | B |\n|---|---|\n| a | b |\n\n| A | B |\n|---|---|\n| c | d |\n| one two three | four five six |\n"
        document = markdown.document("t.md", page)
        second = page.rindex("| A | B |")
        spans = place("A | B\none two three | four five six", documents=[document]).spans
        assert [(span.start, page[span.start : span.end].strip()) for span in spans] == [
            (second, "| A | B |\n|---|---|"), (page.index("| one"), "| one two three | four five six |")
        ]  # fmt: skip

    def test_sentences_that_were_joined_in_any_order(self):
        joined = "Ask your manager before the year ends. […] " + SENTENCE
        assert texts(place(joined)) == [SENTENCE, "Ask your manager before the year ends."]

    def test_what_was_left_out_between_them(self):
        page = "One two three four five six. Seven eight. Nine ten eleven twelve thirteen."
        assert found("One two three four five six. […] Nine ten eleven twelve thirteen.", page) == [
            "One two three four five six.", "Nine ten eleven twelve thirteen."
        ]  # fmt: skip

    def test_ends_that_were_cut(self):
        page = "Before the holidays you may carry over five days of the holiday allowance to March."
        assert found("…idays you may carry over five days of the holi…", page) == [
            "idays you may carry over five days of the holi"
        ]  # fmt: skip
        assert found("you may carry over five days of thx", page) == ["you may carry over five days of"]

    def test_signs_beside_words_come_with_them(self):
        page = "A line.\n\n> **Note:** *keep* the (original) ticket until payday!**\n\n| a | one two three four five | b |\n"
        assert found("note keep the original ticket until payday", page) == [
            "> **Note:** *keep* the (original) ticket until payday!**"
        ]  # fmt: skip
        assert found("one two three four five", page) == ["| one two three four five |"]
        assert found("the original ticket until payday", page) == ["the (original) ticket until payday!**"]

    @pytest.mark.parametrize(
        "prefix", ["Source: hr/leave.md\n", "[leave.md] ", "Leave > Leave: ", "Title: Leave\nAuthor: who\n\n"]
    )
    def test_what_a_system_puts_before_it(self, prefix):
        assert at("hr/leave.md", COUNTED) in place(prefix + COUNTED).spans

    def test_a_long_first_line_before_a_short_text(self):
        before = "file_name: some-export.md, section: a title that the system made up, author: nobody at all\n"
        assert texts(place(before + "Salaries are paid on the 25th")) == ["Salaries are paid on the 25th"]

    def test_a_heading_above_it_counts_and_its_like_elsewhere_does_not(self):
        text = "Leave > Carrying over\n\nAsk your manager before the year ends."
        spans = [at("hr/leave.md", "Leave"), at("hr/leave.md", "Carrying over"), at("hr/leave.md", text[23:])]
        assert place(text) == Placed(tuple(spans), "anywhere")

    def test_all_places_of_a_text_count(self):
        page = "Ask the desk for a new badge.\n\nElse.\n\nAsk the desk for a new badge."
        spans = place("Ask the desk for a new badge.", documents=[Document("a", "A", page)]).spans
        assert [(span.start, span.end) for span in spans] == [(0, 29), (38, 67)]

    def test_places_that_touch_or_overlap_are_one(self):
        assert found("leave", "leave leave leave, and leave") == ["leave leave leave,", "leave"]
        assert found("a b a b a", "a b a b a b a. c") == ["a b a b a b a."]

    def test_less_than_five_words_stand_there_as_a_whole_or_not(self):
        assert texts(place("three hours")) == ["three hours."]
        assert place("three long hours").how == "nowhere"
        assert place("hours three").how == "nowhere"

    def test_what_a_passage_says_twice_counts_once(self):
        assert place("\n".join([SENTENCE] * 7)) == place(SENTENCE)


WORDS = "the of a to and in for days leave pay year may be is your ask manager month first over"


class TestNowhere:
    @pytest.mark.parametrize(
        "text",
        [
            "Quarks and leptons interact by the exchange of gauge bosons.",
            "---", "|||", "🙂 🙂", "\u200b", "xyzzy", "",
            "leave " * 100_000,
            "Hours of more than three count for journeys; class is first.",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("source", [None, "hr/leave.md"])
    def test_what_does_not_stand_there(self, text, source):
        assert place(text or "-", source) == Placed((), "nowhere")

    def test_less_than_half(self):
        footer = FOOTER.strip()  # 14 words
        other = "But nothing else of it does stand on any page of ours here at all"  # 14 words, and one
        assert place(f"{other.rpartition(' ')[0]} {footer}").how == "anywhere"
        assert place(f"{other} so {footer}").how == "nowhere"

    def test_phrases_that_many_pages_have(self):
        choice = random.Random(1)
        words = WORDS.split()
        pages = [Document(f"{i}.md", "", " ".join(choice.choices(words, k=400))) for i in range(60)]
        row = [page.text.split() for page in pages]
        phrases = [" ".join(each[at : at + 5]) for each in row for at in (50, 200)]
        assert place(" ".join(phrases), documents=pages).how == "nowhere"
        whole = Document("all.md", "", "\n\n".join(page.text for page in pages))
        choice.shuffle(phrases)
        assert place(" but ".join(phrases), documents=[whole]).how == "nowhere"

    def test_letters_of_a_script_without_blanks_weigh_less_than_words(self):
        choice = random.Random(2)
        letters = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说"

        def text(n):
            return "".join(choice.choices(letters, k=n))

        page = Document("zh.md", "", text(200_000))
        fives = {page.text[at : at + 5] for at in range(len(page.text))}
        parts = []
        while len(parts) < 60:  # each five of it stand somewhere in the page
            if (piece := text(5)) in fives:
                parts.append(piece)
        assert place("".join(parts), documents=[page]).how == "nowhere"
        assert place(page.text[700:760], documents=[page]).spans == (Span("zh.md", 700, 760),)


def test_it_is_placed_once_whoever_asks_for_it():
    placer = Placer(PAGES)
    passage = Passage(COUNTED, score=0.5, id="a")
    assert placer.place(passage) is placer.place(replace(passage, score=0.1, id="b"))


def test_a_document_is_read_when_it_is_needed(monkeypatch):
    read = []

    def matcher(documents):
        read.append([document.id for document in documents])
        return real(documents)

    real = placing.Matcher
    monkeypatch.setattr(placing, "Matcher", matcher)
    placer = Placer(PAGES)
    span = at("hr/leave.md", COUNTED)
    placer.place(Passage(COUNTED, "hr/leave.md", span.start, span.end))
    placer.place(Passage(source="hr/pay.md"))
    assert read == []
    for text in (SENTENCE, COUNTED):
        placer.place(Passage(text, "leave.md"))
    assert read == [["hr/leave.md"]]
    for text in (SENTENCE, COUNTED):
        placer.place(Passage(text))
    assert read == [["hr/leave.md"], ["hr/leave.md", "hr/pay.md", "travel.md"]]


def test_many_may_ask_at_once():
    passages = [
        Passage(page.text[start : start + 60], source) for page in PAGES for start in range(0, 200, 5)
        for source in (None, page.id)
    ]  # fmt: skip
    alone = [Placer(PAGES).place(passage) for passage in passages]
    placer = Placer(PAGES)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(placer.place, passages)) == alone


ROWS = st.lists(st.sampled_from(["a", "b", "c", "Dd", "1"]), min_size=1, max_size=60)


@settings(max_examples=200, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=3), st.data())
def test_any_part_of_a_page_is_found_there(rows, data):
    pages = [Document(f"{i}.md", "", " ".join(row)) for i, row in enumerate(rows)]
    row = data.draw(st.integers(0, len(rows) - 1))
    first = data.draw(st.integers(0, len(rows[row]) - 1))
    end = data.draw(st.integers(first + 1, len(rows[row])))
    start = len(" ".join([*rows[row][:first], ""]))
    part = Span(f"{row}.md", start, start + len(" ".join(rows[row][first:end])))
    text = data.draw(st.sampled_from([" ", "\n", " | ", "** "])).join(rows[row][first:end])
    for source, how in ((None, "anywhere"), (part.doc_id, "source")):
        placed = place(text, source, documents=pages)
        assert placed.how == how
        assert overlap(placed.spans, [part]) == len(part)
        assert all(one.doc_id != other.doc_id or one.end < other.start for one, other in pairwise(placed.spans))
        assert list(placed.spans) == sorted(placed.spans)
