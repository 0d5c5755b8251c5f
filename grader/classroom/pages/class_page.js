"use strict";
// The table of a class. The rows are in the page's data; those of a very large class also in scripts beside the page.
// Only one page of them is ever drawn, but for printing.

const PAGE = 50;
const WORDS = { e: ["error", "could not be loaded"], n: ["stub", "not begun"], u: ["?", "not graded"] };
const [ID, NAME, FOLDER, POINTS, TOTAL, STATES, GROUPS, MISTAKES, TOPICS, BY_HAND] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

const data = JSON.parse(document.getElementById("data").textContent);
const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const textOf = (row) => `${row[ID]}\n${row[NAME]}`.toLowerCase();
const searched = data.rows.map(textOf);
const start = { text: "", exercise: "", state: "", set: "", sort: "id", down: "", page: "0" };
const FIELDS = ["text", "exercise", "state", "set"];

const element = (id) => document.getElementById(id);
let asked = { ...start };
let missing = ""; // why there are not all students
let shown = []; // indexes of the rows that pass the filters, in order

// The columns: a key, a heading, and what they are sorted by.

const columns = [
  { key: "id", title: "Student", value: (row) => row[ID] },
  ...(data.named ? [{ key: "name", title: "Name", value: (row) => row[NAME] || null }] : []),
  { key: "total", title: `Of ${data.max}`, spoken: `Total of ${data.max}`, points: true, value: (row) => row[TOTAL] },
  ...data.exercises.map(([number, title], index) => ({
    key: `e${index}`, title: number, spoken: `${number} ${title}`, points: true, value: (row) => row[POINTS][index],
  })),
];

function passes(row, index) {
  const text = asked.text.trim().toLowerCase();
  if (text && !searched[index].includes(text)) return false;
  if (asked.state || asked.exercise !== "") {
    const states = asked.state || "pfenu"; // an exercise alone: who handed it in
    const own = asked.exercise === "" ? row[STATES] : row[STATES][Number(asked.exercise)];
    if (![...own].some((state) => states.includes(state))) return false;
  }
  const number = Number(asked.set.slice(1));
  if (asked.set[0] === "g" && !row[GROUPS].includes(number)) return false;
  if (asked.set[0] === "t" && !row[TOPICS].includes(number)) return false;
  return asked.set[0] !== "d" || row[MISTAKES].includes(number);
}

function compare(one, other) {
  if (one === null || other === null) return null;
  return typeof one === "number" ? one - other : words.compare(one, other);
}

function choose() {
  const { value } = columns.find((column) => column.key === asked.sort) || columns[0];
  const sign = asked.down ? -1 : 1;
  shown = data.rows.map((_, index) => index).filter((index) => passes(data.rows[index], index));
  shown.sort((a, b) => {
    const one = value(data.rows[a]);
    const other = value(data.rows[b]);
    const order = compare(one, other);
    // What is absent comes last either way; equals stay in the order of the students.
    return (order === null ? (one === null) - (other === null) : sign * order) || a - b;
  });
}

// Drawing. Names only ever become text, never HTML.

function make(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function drawHead() {
  const row = document.createElement("tr");
  for (const column of columns) {
    const cell = make("th", "", { scope: "col" });
    if (column.points) cell.className = "number";
    const button = make("button", column.title, { type: "button", "data-sort": column.key });
    if (column.spoken) {
      button.title = column.spoken;
      button.setAttribute("aria-label", column.spoken);
    }
    cell.append(button);
    row.append(cell);
  }
  element("table").tHead.replaceChildren(row);
}

function markSorted() {
  element("table").tHead.querySelectorAll("th").forEach((cell, index) => {
    const own = columns[index].key === asked.sort;
    if (own) cell.setAttribute("aria-sort", asked.down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
    cell.firstChild.textContent = columns[index].title + (own ? (asked.down ? " ▼" : " ▲") : "");
  });
}

function drawn(index) {
  const row = data.rows[index];
  const line = document.createElement("tr");
  const who = make("th", "", { scope: "row" });
  const page = row[FOLDER] && `${row[FOLDER]}/${data.feedback}`; // a pseudonym has none
  who.append(page ? make("a", row[ID], { href: page, title: row[ID] }) : make("span", row[ID]));
  line.append(who);
  if (data.named) line.append(make("td", row[NAME]));
  line.append(points(row[TOTAL], "", data.max));
  data.exercises.forEach(([, , most], exercise) => {
    const isByHand = row[BY_HAND].includes(exercise);
    line.append(points(row[POINTS][exercise], row[STATES][exercise], most, isByHand));
  });
  return line;
}

// A cell with points, the darker the more of `most` they are.
function points(value, state, most, isByHand = false) {
  const cell = make("td", "", { class: "number" });
  const text = value === null ? "–" : String(Number(value.toFixed(2)));
  if (value) cell.style.setProperty("--share", `${Math.round((100 * value) / most)}%`);
  if (isByHand) {
    const found = state in WORDS ? `; the file: ${WORDS[state][1]}` : "";
    cell.append(text, make("abbr", " ✎", { title: `set by hand${found}` }));
  } else if (state in WORDS) cell.append(make("span", WORDS[state][0], { class: "words error", title: WORDS[state][1] }));
  else cell.textContent = text;
  if (state === "p") cell.classList.add("passed");
  return cell;
}

function draw(whole = false) {
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  const page = Math.min(Math.max(0, Number(asked.page) || 0), pages - 1);
  const part = whole ? shown : shown.slice(page * PAGE, (page + 1) * PAGE);
  const body = document.createDocumentFragment();
  for (const index of part) body.append(drawn(index));
  element("table").tBodies[0].replaceChildren(body);
  asked.page = String(page);
  element("page").textContent = `Page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
  element("first").disabled = element("previous").disabled = page === 0;
  element("last").disabled = element("next").disabled = page === pages - 1;
}

function show(change, keepPage = false) {
  asked = { ...asked, ...(keepPage ? {} : { page: "0" }), ...change };
  for (const field of FIELDS) if (element(field).value !== asked[field]) element(field).value = asked[field];
  choose();
  draw();
  markSorted();
  const [some, all] = [shown.length, data.students].map((count) => count.toLocaleString("en"));
  element("count").textContent = (some === all ? `${all} students` : `${some} of ${all} students`) + missing;
  remember();
}

// What is asked for stands in the address, so that "back" from a student's page leads to the same list.

function remember() {
  const told = Object.entries(asked).filter(([key, value]) => value !== start[key]);
  if (!told.length && !location.hash.includes("=")) return; // leave "#students" and its like alone
  try {
    history.replaceState(null, "", told.length ? `#${new URLSearchParams(told)}` : location.pathname + location.search);
  } catch { /* a page inside another may have no address */ }
}

function remembered() {
  const text = location.hash.slice(1);
  if (!text.includes("=")) return {};
  return Object.fromEntries([...new URLSearchParams(text)].filter(([key]) => key in start));
}

// What the reader does.

element("filters").addEventListener("input", (event) => show({ [event.target.id]: event.target.value }));
element("filters").addEventListener("submit", (event) => event.preventDefault());
element("filters").addEventListener("reset", (event) => {
  event.preventDefault();
  show({ ...start, sort: asked.sort, down: asked.down });
});
element("table").tHead.addEventListener("click", (event) => {
  const key = event.target.closest("button")?.dataset.sort;
  if (!key) return;
  // A first click on points shows the lowest: whom to look after.
  show({ sort: key, down: asked.sort === key && !asked.down ? "1" : "" });
});
for (const [id, step] of Object.entries({ first: -Infinity, previous: -1, next: 1, last: Infinity })) {
  element(id).addEventListener("click", () => {
    const last = Math.max(0, Math.ceil(shown.length / PAGE) - 1);
    show({ page: String(Math.min(last, Math.max(0, Number(asked.page) + step))) }, true);
  });
}
document.addEventListener("click", (event) => {
  const set = event.target.closest("button[data-set]")?.dataset.set;
  if (!set) return;
  show({ ...start, set });
  element("students").focus();
  element("students").scrollIntoView();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  element("text").focus();
});
addEventListener("beforeprint", () => draw(true));
addEventListener("afterprint", () => draw());

// The other rows of a large class. A script may come from a file beside the page; fetch may not.

globalThis.addStudents = (rows) => {
  for (const row of rows) {
    data.rows.push(row);
    searched.push(textOf(row));
  }
};

function load(part) {
  const isLast = part > data.parts;
  missing = isLast ? "" : " · loading the others…";
  if (isLast || part === 1) show(part === 1 ? remembered() : {}, true);
  if (isLast) return;
  const script = make("script", "", { src: `${data.folder}/${part}.js` });
  script.addEventListener("load", () => load(part + 1));
  script.addEventListener("error", () => {
    missing = ` · the others are missing: the folder ${data.folder} must lie beside this page`;
    show({}, true);
  });
  document.head.append(script);
}

drawHead();
load(1);
