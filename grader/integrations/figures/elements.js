// Elements of a page, made in one line.

const SVG = "http://www.w3.org/2000/svg";

// An element with its attributes and children. A function is a listener, null and false are left out.
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(
      name,
      value === true ? "" : value
    );
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
  );
  return element;
}
