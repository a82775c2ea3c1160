"""The search of the demonstration: chunks of so many characters, found by the words of the question. It knows nothing of
DocMind; a line of JSON in is a question, a line out is what was found."""

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

SIZE = 600


def words(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return re.findall(r"\w+", text.lower())


def chunks(folder: Path) -> list[tuple[str, str]]:
    """Every page in pieces of about SIZE characters, cut between words: (page, text)."""
    found = []
    for page in sorted(folder.glob("*.md")):
        piece = ""
        for word in re.findall(r"\S+\s*", page.read_text(encoding="utf-8")):
            if len(piece) + len(word) > SIZE:
                found.append((page.name, piece))
                piece = ""
            piece += word
        found.append((page.name, piece))
    return found


def main(folder: Path) -> None:
    """Answer until there are no more questions."""
    pieces = chunks(folder)
    counts = [Counter(words(text)) for _, text in pieces]
    holding = Counter(word for count in counts for word in count)
    weight = {word: math.log(1 + len(pieces) / n) for word, n in holding.items()}
    for line in sys.stdin:
        asked = json.loads(line)
        wanted = set(words(asked["question"]))
        scores = [sum(weight[word] for word in wanted & count.keys()) for count in counts]
        best = sorted(range(len(pieces)), key=lambda i: (-scores[i], i))[: asked["k"]]
        passages = [{"source": pieces[i][0], "text": pieces[i][1], "score": scores[i]} for i in best]
        sys.stdout.write(json.dumps({"passages": passages}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
