// Elements from plain calls, and `morph`, which turns one tree into another in place.
//
// Rendering is: build the wanted tree, morph the shown one into it. Nodes that stay keep their identity, so a live
// edit loses neither focus, nor an open select, nor what somebody typed (properties are the reader's; attributes ours).

const SVG = "http://www.w3.org/2000/svg";

/** An element. `props`: attributes; `html` takes only the server's safe html; `color` sets `--color`. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "html") element.innerHTML = value;
    else if (name === "color") element.style.setProperty("--color", value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child);
  }
  return element;
}

const ICONS = {
  bot: "M6 8.5A2.5 2.5 0 0 1 8.5 6h3A2.5 2.5 0 0 1 14 8.5v3a2.5 2.5 0 0 1-2.5 2.5h-3A2.5 2.5 0 0 1 6 11.5ZM10 6V3.5M8.6 9.7v.6M11.4 9.7v.6M4 9.5v1.5M16 9.5v1.5",
  hash: "M8 3 6.5 17M14 3l-1.5 14M3.5 7.5h14M2.5 12.5h14",
  reply:
    "M4 3.5h12A1.5 1.5 0 0 1 17.5 5v7.5A1.5 1.5 0 0 1 16 14H9l-4 3.5V14H4a1.5 1.5 0 0 1-1.5-1.5V5A1.5 1.5 0 0 1 4 3.5ZM6.5 7.5h7M6.5 10.5h4.5",
  close: "M5 5l10 10M15 5 5 15",
  back: "M12 4.5 6.5 10l5.5 5.5",
  down: "M5.5 8l4.5 4.5L14.5 8",
  right: "M8 5.5 12.5 10 8 14.5",
  copy: "M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5v-7A1.5 1.5 0 0 1 4.5 7Z",
  check: "M4 10.5 8.5 15 16 5.5",
  at: "M13.2 10a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0Zm0 0v1.3c0 2.7 4.1 2.7 4.1-1.3a7.3 7.3 0 1 0-3 5.9",
  code: "M7 6 3 10l4 4M13 6l4 4-4 4",
  send: "M3.5 10 3 3.5 17.5 10 3 16.5 3.5 10Zm0 0H10",
  eye: "M2.5 10S5 4.5 10 4.5 17.5 10 17.5 10 15 15.5 10 15.5 2.5 10 2.5 10Zm10 0a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Z",
  warning: "M10 3 2.5 16.5h15L10 3Zm0 5v4m0 2.2v.1",
  search: "M13 13l4 4M8.5 14.5a6 6 0 1 1 0-12 6 6 0 0 1 0 12Z",
  more: "M5 10h.01M10 10h.01M15 10h.01",
};

/** A 20-unit line icon, hidden from screen readers (its button carries the name). */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" })) {
    svg.setAttribute(key, value);
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function iconButton(name, label, props = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, ...props }, icon(name));
}

/** What belongs to the reader while they use it: no render takes it away. */
const READERS_OWN = {
  DETAILS: new Set(["open"]),
  INPUT: new Set(["aria-expanded", "aria-controls", "aria-activedescendant"]),
  TEXTAREA: new Set(["style"]),
};

export function morph(shown, wanted) {
  if (shown.isEqualNode(wanted)) return;
  syncAttributes(shown, wanted);
  morphChildren(shown, wanted);
}

function syncAttributes(shown, wanted) {
  const own = READERS_OWN[shown.tagName];
  for (const { name } of [...shown.attributes])
    if (!wanted.hasAttribute(name) && !own?.has(name)) shown.removeAttribute(name);
  for (const { name, value } of wanted.attributes) {
    if (shown.getAttribute(name) === value || own?.has(name)) continue;
    // The content policy blocks style attributes but allows the style object.
    if (name === "style") shown.style.cssText = wanted.style.cssText;
    else shown.setAttribute(name, value);
  }
}

/** A text that only grew is appended to, so that a selection in it stays. */
function morphText(node, wanted) {
  const shown = node.nodeValue;
  if (shown === wanted) return;
  if (wanted.startsWith(shown)) node.appendData(wanted.slice(shown.length));
  else node.nodeValue = wanted;
}

const keyOf = (node) => node.dataset?.key;
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

/** Makes the children of `shown` equal to those of `wanted`, matched by `data-key`, else by position and kind. */
export function morphChildren(shown, wanted) {
  const stay = new Set([...wanted.childNodes].map(keyOf));
  const keyed = new Map();
  for (const child of [...shown.childNodes]) {
    const key = keyOf(child);
    // What goes, goes first: then what stays need not be moved, and a moved field would lose the focus.
    if (key && !stay.has(key)) child.remove();
    else if (key) keyed.set(key, child);
  }
  let cursor = shown.firstChild;
  for (const child of [...wanted.childNodes]) {
    const key = keyOf(child);
    let match = key ? keyed.get(key) : cursor;
    if (match && alike(match, child)) {
      if (match === cursor) cursor = cursor.nextSibling;
      else shown.insertBefore(match, cursor);
      if (match.nodeType === Node.ELEMENT_NODE) morph(match, child);
      else morphText(match, child.nodeValue);
    } else {
      shown.insertBefore(child, cursor);
    }
  }
  while (cursor) {
    const next = cursor.nextSibling;
    cursor.remove();
    cursor = next;
  }
}
