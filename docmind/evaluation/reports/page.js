// Lists the questions of the page's data. All texts are untrusted: they are set as text, never as markup.

const ROWS = 100; // at a time: thousands at once are slow to lay out
const data = JSON.parse(element("data").textContent);
const filters = ["strategy", "text", "type", "split", "outcome"].map(element);
const [strategy, text, type, split, outcome] = filters;
const opened = new Set();
let found = [];

function make(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

function state(question, s) {
  const place = data.lost[question.lost[s]];
  if (place === "error") return "error";
  if (!question.gold.length) return "unanswerable";
  return place ? "missed" : "hit";
}

function flip(question, s) {
  if (!(s in question.old)) return "";
  return state(question, s) === "hit" ? "gained" : "lost";
}

const chosen = () => data.strategies.indexOf(strategy.value);
const rank = (n) => (n ? `rank ${n}` : "not found");

function filter() {
  const words = text.value.toLowerCase().split(/\s+/);
  const s = chosen();
  found = data.questions.filter((question) => {
    const searched = `${question.id} ${question.text}`.toLowerCase();
    return words.every((word) => searched.includes(word))
      && ["", question.type].includes(type.value)
      && ["", question.split].includes(split.value)
      && ["", state(question, s), flip(question, s)].includes(outcome.value);
  });
  element("list").replaceChildren();
  show();
}

function show() {
  const list = element("list");
  const start = list.children.length;
  list.append(...found.slice(start, start + ROWS).map(row));
  const shown = list.children.length;
  element("count").textContent = `${found.length} of ${data.questions.length} questions`
    + (shown < found.length ? `, the first ${shown} are shown` : "");
  element("more").hidden = shown === found.length;
  return start;
}

function row(question) {
  const s = chosen();
  const details = make("details", "", make("summary", "",
    make("span", "question", question.text),
    make("span", "facts", `${question.id} · ${question.type} · ${question.split}`),
    make("span", "facts missed", `missed by ${question.missed} of ${data.strategies.length}`),
    outcomeOf(question, s),
  ));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(inside(question, s));
    opened[details.open ? "add" : "delete"](question.id);
  });
  details.open = opened.has(question.id);
  return make("li", "", details);
}

function outcomeOf(question, s) {
  const is = state(question, s);
  const told = { error: "error", unanswerable: "no gold" }[is] ?? rank(question.ranks[s]);
  const changed = flip(question, s);
  return make("span", `outcome ${is}`, changed ? `${told}, ${changed}` : told);
}

function inside(question, s) {
  const box = make("div", "inside");
  const choose = (number) => {
    for (const [i, button] of [...chips.children].entries()) button.setAttribute("aria-pressed", i === number);
    what.replaceChildren(...whatWasFound(question, number));
  };
  const chips = make("div", "chips", ...data.strategies.map((name, i) => {
    const chip = make("button", "", `${name} `, make("span", `outcome ${state(question, i)}`, question.ranks[i] || "–"));
    chip.type = "button";
    chip.addEventListener("click", () => choose(i));
    return chip;
  }));
  const what = make("div", "");
  if (data.key) {
    const link = make("a", "", "Its line in the answer key");
    link.href = `${data.key}#L${question.line}`;
    box.append(make("p", "", link));
  }
  for (const [page, evidence] of question.gold) {
    box.append(make("figure", "", make("figcaption", "", `Gold, in ${page}`), make("blockquote", "", evidence || "the whole page")));
  }
  box.append(chips, what);
  choose(s);
  return box;
}

function whatWasFound(question, s) {
  const is = state(question, s);
  const place = data.lost[question.lost[s]];
  const told = {
    hit: `Won at ${rank(question.ranks[s])}.`,
    missed: `Missed at 3 (${rank(question.ranks[s])}). Lost at ${place}: ${data.told[place]}.`,
    unanswerable: "Unanswerable: there is nothing to find.",
    error: "Ended in an error.",
  }[is];
  const before = flip(question, s) ? ` In the baseline: ${rank(question.old[s])}.` : "";
  const parts = [make("p", "", make("b", "", data.strategies[s]), ` ${told}${before}`)];
  const hits = question.hits?.[s];
  if (hits === undefined) parts.push(make("p", "note", "Its passages are left out, to keep this page small."));
  else if (typeof hits === "string") parts.push(make("pre", "", hits));
  else parts.push(make("ol", "passages", ...hits.map(passage)));
  return parts;
}

function passage([number, score]) {
  const [page, ...texts] = data.passages[number];
  const marked = texts.map((part, i) => (i % 2 ? make("mark", "", part) : part));
  return make("li", "", make("p", "facts", `${page} · score ${score}`), make("p", "passage", ...marked));
}

element("more").addEventListener("click", () => {
  const first = show();
  element("list").children[first].querySelector("summary").focus();
});
element("browser").hidden = false;
keepInAddress(filters, filter, element("questions"));
