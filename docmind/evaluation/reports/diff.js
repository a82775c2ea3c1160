// Hides the flips that are filtered out.

const filters = ["strategy", "type", "outcome", "question"].map(element);
const [strategy, type, outcome, question] = filters;
const rows = [...element("list").children];

function show() {
  const asked = question.value.trim();
  const words = asked.toLowerCase().split(/\s+/);
  const isId = rows.some((row) => row.dataset.question === asked);
  const found = rows.filter((row) => {
    const { dataset } = row;
    const searched = `${dataset.question} ${row.querySelector(".question").textContent}`.toLowerCase();
    return ["", dataset.strategy].includes(strategy.value)
      && ["", dataset.type].includes(type.value)
      && ["", dataset.outcome].includes(outcome.value)
      && (isId ? dataset.question === asked : words.every((word) => searched.includes(word)));
  });
  const kept = new Set(found);
  for (const row of rows) row.hidden = !kept.has(row);
  if (isId) for (const row of found) row.firstElementChild.open = true;
  element("count").textContent = `${found.length} of ${rows.length} flips`;
}

element("filters").hidden = false;
keepInAddress(filters, show, element("questions"));
