"""What a model cannot read is told once, in figures that are measured on the text."""

import re

import pytest
from workplace import Workplace

from docmind.models.vocabulary import warn_if_unread

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
def test_letters_that_are_not_read_are_told_by_script(embedder, caplog, texts, scripts):
    warn_if_unread(texts, embedder.tokenizer)
    assert len(caplog.messages) == (scripts is not None)
    for message in caplog.messages:
        shares = dict(re.findall(r"(\w+) (\d+)%", message.partition("(")[2]))
        assert set(shares) <= scripts
        assert scripts - {"Latin"} <= set(shares)
        assert all(int(share) > 80 for script, share in shares.items() if script != "Latin")
        assert int(message.partition("%")[0]) >= 10


def test_half_of_the_letters_is_half(embedder, caplog):
    warn_if_unread(["leave ответ"], embedder.tokenizer)
    assert caplog.messages[0].startswith("50% of the letters")
    assert "(Cyrillic 100%)" in caplog.messages[0]


def test_a_run_tells_it_once(corpus, tmp_path, caplog):
    place = Workplace(tmp_path)
    for page in corpus.rglob("*.md"):
        page.write_text(f"# 休暇\n\n{JAPANESE * 5}\n")
    place.ask({"id": "q", "question": "休暇は", "source": "leave.md", "evidence": "年間二十五日"})
    assert place.eval("--strategies", "headers+bm25,headers+vector") == 0
    assert caplog.text.count("of the letters in the documents are not read") == 1
