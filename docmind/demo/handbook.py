"""The handbook of the demonstration, and its answer key: a page an office, three facts a page. Nothing is drawn by chance."""

from __future__ import annotations

import json
from pathlib import Path

OFFICES = (
    "Aberdeen", "Bergen", "Cork", "Dresden", "Eindhoven", "Florence", "Ghent", "Helsinki", "Innsbruck", "Jena", "Krakow",
    "Lisbon", "Malmo", "Nantes", "Oporto", "Pisa", "Rostock", "Seville", "Tallinn", "Utrecht",
)  # fmt: skip

_PAGE = """# The {office} office

## Visitors

Who visits the {office} office announces guests at the front desk a day before. A badge is printed for each of them and is
worn where others can see it. Guests wait in the hall until somebody fetches them, and are seen off in the same way.
Badges of guests open the doors up to {floor} and stop working at half past five.

## Parking

The garage below the {office} office belongs to the landlord, and spaces in it are let by the month. People who come by car
only now and then book a space for the day in the calendar. A space that is not taken by ten is given to whoever asks.
The charge for one day is {euros} euros, and it is taken off the next pay.

## Deliveries

Parcels for people of the {office} office are taken in at the back gate, not at the front desk. Whoever expects something
large tells the porters in the morning, since the lift is needed for it. Nothing perishable is kept over a weekend.
Parcels that nobody fetches go back to the sender after {days} days.
"""

_QUESTIONS = (
    ("visitors", "Up to which floor do guests' badges open doors in {office}?", "Badges of guests open the doors up to {floor}"),
    ("parking", "What does a day in the garage of the {office} office cost?", "The charge for one day is {euros} euros"),
    ("deliveries", "When are parcels that nobody fetches in {office} sent back?", "go back to the sender after {days} days"),
)  # fmt: skip


def make(folder: Path) -> None:
    """Write `pages/` and `questions.jsonl` below `folder`, which is there."""
    (folder / "pages").mkdir()
    lines = []
    for place, office in enumerate(OFFICES):
        facts = {
            "office": office,
            "floor": f"floor {2 + place % 7}",
            "euros": 4 + place % 9,
            "days": 10 + place % 11,
        }
        page = f"{office.lower()}.md"
        (folder / "pages" / page).write_text(_PAGE.format(**facts), encoding="utf-8")
        for kind, question, evidence in _QUESTIONS:
            gold = {"source": page, "evidence": evidence.format(**facts)}
            lines.append(
                {"id": f"{office.lower()}-{kind}", "question": question.format(**facts), "type": kind, "gold": [gold]}
            )
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "questions.jsonl").write_text(text, encoding="utf-8")
