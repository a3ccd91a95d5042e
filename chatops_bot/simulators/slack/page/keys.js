// The whole page without a mouse: keys outside of fields and dialogs, and the list of them behind `?`.

import { h, iconButton } from "./dom.js";
import { t } from "./words.js";

const KEYS = [
  ["Ctrl K", "/", "keySwitch"],
  ["↑", "↓", "keyMove"],
  ["Enter", "t", "keyThread"],
  ["c", null, "keyCopy"],
  ["r", null, "keyWrite"],
  ["Esc", null, "keyBack"],
  ["Ctrl Enter", null, "keySubmit"],
  ["?", null, "keyHelp"],
];

const writes = (node) => node.matches?.("input, textarea, select, [contenteditable]");
const acts = (node) => node.closest?.("button, a, summary, [role=menu], pre, .table-scroll");

/** `needs`: { switcher, pane(node): the pane that has the focus or is open, openThread(ts), back(): whether it went, copy(row) } */
export function listenKeys(needs) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const run = event.ctrlKey || event.metaKey ? chord(event, needs) : plain(event, needs);
    if (run && run() !== false) event.preventDefault();
  });
}

function chord({ key, altKey, shiftKey }, needs) {
  return key.toLowerCase() === "k" && !altKey && !shiftKey ? () => needs.switcher.open() : undefined;
}

function plain(event, needs) {
  const { target, key } = event;
  const pane = needs.pane(target);
  if (event.altKey || target.closest?.("[role=menu]")) return undefined;
  if (writes(target)) {
    const empty = target.matches(".composer-field") && target.value === "";
    if (key === "ArrowUp" && empty) return () => pane.step(target, -1);
    if (key === "Escape") return () => needs.back();
    return undefined;
  }
  const row = target.closest?.(".message");
  const onRow = row && !acts(target);
  return {
    "?": showKeys,
    "/": () => needs.switcher.open(),
    r: () => pane.composer.focus(),
    ArrowUp: acts(target) ? undefined : () => pane.step(row ?? target, -1),
    ArrowDown: acts(target) ? undefined : () => pane.step(row ?? target, 1),
    Enter: onRow ? () => needs.openThread(row.dataset.ts) : undefined,
    t: row ? () => needs.openThread(row.dataset.ts) : undefined,
    c: row ? () => needs.copy(row) : undefined,
    Escape: () => (row ? pane.composer.focus() : needs.back()),
  }[key];
}

export function showKeys() {
  const rows = KEYS.map(([one, other, meaning]) =>
    h(
      "div",
      { class: "key-row" },
      h("dt", {}, keyCap(one), other && [h("span", { class: "hint" }, t("or")), keyCap(other)]),
      h("dd", {}, t(meaning)),
    ),
  );
  const dialog = h(
    "dialog",
    { class: "dialog keys", "aria-labelledby": "keys-title" },
    h(
      "header",
      { class: "dialog-header" },
      h("h2", { id: "keys-title" }, t("keys")),
      iconButton("close", t("close")),
    ),
    h("dl", { class: "dialog-body" }, rows),
  );
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("button")) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}

const keyCap = (keys) => keys.split(" ").map((key) => h("kbd", { class: "key" }, key));
