"""What a model cannot read is told once, in figures that are measured on the text."""

import re

import pytest
from workplace import Workplace

from docmind.models.tokenizing import LIMIT
from docmind.models.vocabulary import cut_questions, unread_letters
from docmind.types import Question

ENGLISH = (
    "You have 25 days of annual leave a year. Five of them may be carried over, if your lead agrees in Jira or Slack. "
)
JAPANESE = (
    "年次有給休暇は年間二十五日です。翌年度に繰り越せるのは五日までです。コンピューターの持ち出しは禁止されています。"
)
RUSSIAN = "Сотрудники имеют право на двадцать пять дней ежегодного отпуска."
GERMAN = "Mitarbeitende haben Anspruch auf fünfundzwanzig Tage bezahlten Jahresurlaub. Höchstens fünf können übertragen werden."


@pytest.mark.parametrize(
    ("texts", "scripts"),
    [
        ([ENGLISH], None),
        ([GERMAN], None),
        (["25 % (12,345)", ""], None),
        ([], None),
        ([ENGLISH * 20, JAPANESE], None),
        ([JAPANESE], {"Cjk", "Hiragana", "Katakana"}),
        ([RUSSIAN], {"Cyrillic"}),
        (["직원은 연간 이십오 일의 유급 휴가를 받을 수 있습니다"], {"Hangul"}),
        (["ሠራተኞች በዓመት ሃያ አምስት ቀን የሚከፈልበት ዕረፍት ያገኛሉ"], {"Ethiopic"}),
        ([ENGLISH, JAPANESE], {"Cjk", "Hiragana", "Katakana", "Latin"}),
    ],
)
def test_letters_that_are_not_read_are_told_by_script(embedder, texts, scripts):
    message = unread_letters(texts, embedder.tokenizer)
    assert bool(message) == (scripts is not None)
    if scripts:
        shares = dict(re.findall(r"(\w+) (\d+)%", message.partition("(")[2]))
        assert set(shares) <= scripts
        assert scripts - {"Latin"} <= set(shares)
        assert all(int(share) > 80 for script, share in shares.items() if script != "Latin")
        assert int(message.partition("%")[0]) >= 10


def test_half_of_the_letters_is_half(embedder):
    message = unread_letters(["leave ответ"], embedder.tokenizer)
    assert message.startswith("50% of the letters")
    assert "(Cyrillic 100%)" in message


def test_questions_of_which_the_end_is_not_read_are_named(embedder):
    """A token a word: the limit itself is read whole."""
    asked = [Question(id=f"q{n}", text="leave " * (LIMIT + (n > 0))) for n in range(8)]
    assert cut_questions(asked[:1], embedder.tokenizer) == ""
    assert cut_questions(asked[:2], embedder.tokenizer) == (
        f"Of 1 question the model reads the first {LIMIT} tokens alone: q1."
    )
    assert cut_questions(asked, embedder.tokenizer).endswith("alone: q1, q2, q3, q4, q5 and 2 more.")


def test_a_run_tells_it_once_and_every_report_with_it(corpus, tmp_path, caplog):
    place = Workplace(tmp_path)
    for page in corpus.rglob("*.md"):
        page.write_text(f"# 休暇\n\n{JAPANESE * 5}\n")
    place.ask({"id": "q", "question": "休暇は" + "日" * LIMIT, "source": "leave.md", "evidence": "年間二十五日"})
    assert place.eval("--strategies", "headers+bm25,headers+vector") == 0
    assert caplog.text.count("of the letters in the documents are not read") == 1
    for name in ("latest.md", "latest.html"):
        text = (place.out / name).read_text(encoding="utf-8")
        assert text.count("of the letters in the documents are not read") == 1
        assert f"Of 1 question the model reads the first {LIMIT} tokens alone: q." in text
