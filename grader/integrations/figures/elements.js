// Elements, first as descriptions and then in a page. Drawing again changes the nodes that are there and replaces none
// without need: so a pointer, a finger or the focus stays on what it is on.

const SVG = "http://www.w3.org/2000/svg";

// The description of an element. Children are texts, descriptions and nodes; null, undefined and false leave a gap.
// A function is a listener, and null, undefined and false are no attribute. Two names are no attributes:
//   key: what the element is found by among its siblings when it is drawn again; else it is found by its place
//   ready(element): called once, when the element was made
export const h = (tag, attributes = {}, ...children) => ({ tag, attributes, children: flat(children) });
export const s = (tag, attributes = {}, ...children) => ({ ...h(tag, attributes, ...children), space: SVG });

const flat = (children) => (children.some(Array.isArray) ? children.flat(Infinity) : children);

// A new element as described.
export function create({ tag, space, attributes, children }) {
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  dress(element, {}, attributes);
  place(element, [], children);
  attributes.ready?.(element);
  return element;
}

const contents = new WeakMap(); // parent → the descriptions that `fill` gave it last

// Show these children in an element that is filled by this function alone.
export function fill(parent, children) {
  place(parent, contents.get(parent) ?? [], children);
  contents.set(parent, children);
}

function place(parent, before, children) {
  if (before.length === children.length && before.every((child, i) => isAlike(child, children[i]))) {
    let node = parent.firstChild; // the usual case, and the quick one: nothing comes, goes or moves
    children.forEach((child, i) => {
      if (!isThere(child)) return;
      change(node, before[i], child);
      node = node.nextSibling;
    });
    return;
  }
  const old = new Map();
  let n = 0;
  before.forEach((child, i) => isThere(child) && old.set(keyOf(child, i), [parent.childNodes[n++], child]));
  const nodes = children.map((child, i) => {
    if (!isThere(child)) return null;
    const [node, known] = old.get(keyOf(child, i)) ?? [];
    old.delete(keyOf(child, i));
    if (!node) return child.tag ? create(child) : child instanceof Node ? child : document.createTextNode(child);
    return change(node, known, child);
  }).filter(Boolean);
  const kept = new Set(nodes);
  [...parent.childNodes].forEach((node) => kept.has(node) || node.remove());
  nodes.forEach((node, i) => node !== parent.childNodes[i] && parent.insertBefore(node, parent.childNodes[i] ?? null));
}

function change(node, known, child) {
  if (known === child) return node;
  if (child.tag) {
    dress(node, known.attributes, child.attributes);
    place(node, known.children, child.children);
  } else node.data = child;
  return node;
}

function dress(element, before, attributes) {
  for (const name in attributes) set(element, name, before[name], attributes[name]);
  for (const name in before) if (!(name in attributes)) set(element, name, before[name]);
}

function set(element, name, old, value) {
  if (old === value || name === "key" || name === "ready" || !(isThere(old) || isThere(value))) return;
  if (typeof (value ?? old) === "function") element[`on${name}`] = value ?? null;
  else if (name.startsWith("--")) element.style.setProperty(name, value ?? "");
  else if (name === "style") element.style.cssText = value ?? ""; // a page's policy may refuse the attribute
  else if (isThere(value)) element.setAttribute(name, value === true ? "" : value);
  else element.removeAttribute(name);
}

const isThere = (value) => value !== null && value !== undefined && value !== false;
const isText = (child) => isThere(child) && !child.tag && !(child instanceof Node);
// Whether a child is shown by the node of another one that had its place before.
const isAlike = (a, b) => a === b || (isText(a) && isText(b)) || (!isThere(a) && !isThere(b))
  || Boolean(a?.tag && a.tag === b?.tag && a.attributes.key === b.attributes.key);
const keyOf = (child, i) => (child instanceof Node ? child : `${child.tag} ${child.attributes?.key ?? i}`);
