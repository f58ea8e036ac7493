// Elements of the document. Text gets into it as text nodes and attribute values only, so that no
// text of a kernel is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Return an HTML element. attributes: `on…` are listeners, `style` an object of properties, and
 * what is null, undefined or false is left out. children: elements, texts, numbers, lists of them. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return an SVG element, in the same way. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") setStyle(element, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Set style properties, custom ones included. */
export function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
}

/** Put other children into an element. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

/** Return a table. columns: {name, title, numeric, group}; neighbours of one group have its name above
 * them. rows: lists of cells, or {cells, ...attributes}. */
export function table(caption, columns, rows) {
  const align = (column) => (columns[column].numeric ? "number" : null);
  const head = columns.map((column, n) =>
    h("th", { scope: "col", class: align(n), title: column.title }, column.name));
  const body = rows.map((row) => {
    const { cells, ...attributes } = Array.isArray(row) ? { cells: row } : row;
    return h("tr", attributes, cells.map((cell, n) => h("td", { class: align(n) }, cell)));
  });
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, groupRow(columns), h("tr", {}, head)), h("tbody", {}, body)));
}

function groupRow(columns) {
  if (!columns.some(({ group }) => group)) return null;
  const runs = [];
  for (const { group = "" } of columns) {
    if (runs.length && group && runs.at(-1).group === group) runs.at(-1).span += 1;
    else runs.push({ group, span: 1 });
  }
  return h("tr", { class: "groups" }, runs.map(({ group, span }) => (group ? h("th", { scope: "colgroup", colspan: span }, group) : h("td", {}))));
}
