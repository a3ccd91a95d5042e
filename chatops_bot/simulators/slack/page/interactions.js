// People use the controls of messages and modals. The JSON of a control is found back by its block and action ids;
// a block's `confirm` is asked first; while the app has not answered, the control waits; a failure stands beside it.

import { refreshSummary, valueOf, valuesIn } from "./controls.js";
import { confirmDialog } from "./dialogs.js";
import { t } from "./words.js";

const SILENT = new Set([
  "app_not_responding",
  "not_responding",
  "timeout",
  "unreachable",
  "app_offline",
  "no_connection",
]);

export const explain = (error, message) => (SILENT.has(error) ? t("notResponding") : t("failed", message ?? error));

/** `needs`: { store, workspace(): Workspace, channelOf(node), view(): the open modal's JSON or null } */
export function listen(needs) {
  document.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-option]");
    if (chosen) {
      const details = chosen.closest("details");
      details.open = false;
      use(needs, details, chosen.dataset.option);
      return;
    }
    const button = event.target.closest(".button[data-action]");
    if (button) use(needs, button);
  });
  document.addEventListener("change", (event) => {
    const control = event.target.closest("[data-action]");
    if (!control) return;
    if (control.matches(".multi")) refreshSummary(control);
    else if (control.matches("select, .choices") && dispatches(needs, control))
      use(needs, control, valueOf(control, control.dataset.kind));
  });
  // Choosing several is one use, which ends when the list is closed.
  document.addEventListener(
    "toggle",
    (event) => {
      const control = event.target;
      if (!control.matches?.("details.multi[data-action]")) return;
      const value = valueOf(control, control.dataset.kind);
      if (control.open) control.valueBefore = value.join("\n");
      else if (
        control.valueBefore !== undefined &&
        control.valueBefore !== value.join("\n") &&
        dispatches(needs, control)
      )
        use(needs, control, value);
    },
    true,
  );
  document.addEventListener("pointerdown", (event) => {
    for (const details of document.querySelectorAll("details.multi[open], details.overflow[open]")) {
      if (!details.contains(event.target)) details.open = false;
    }
  });
  document.addEventListener(
    "keydown",
    (event) => {
      const details = event.key === "Escape" && event.target.closest?.("details[open].multi, details[open].overflow");
      if (!details) return;
      details.open = false;
      details.querySelector("summary").focus();
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
}

function owner(needs, control) {
  const dialog = control.closest("dialog[data-view]");
  if (dialog) return { surface: needs.view(), ts: needs.view().id, where: { view_id: needs.view().id }, root: dialog };
  const row = control.closest("[data-ts]");
  const ts = row.dataset.ts;
  return { surface: needs.store.find(ts), ts, where: { channel: needs.channelOf(row), ts }, root: row };
}

function find(surface, { block, action }) {
  const blocks = [
    ...(surface?.blocks ?? []),
    ...(surface?.attachments ?? []).flatMap((attachment) => attachment.blocks ?? []),
  ];
  const home = blocks.find((candidate) => candidate.block_id === block);
  const parts = [...(home?.elements ?? []), home?.accessory, home?.element].filter(Boolean);
  return { home, part: parts.find((part) => part.action_id === action) };
}

/** A field of an input block is only filled in, unless the block says that each change goes to the app. */
function dispatches(needs, control) {
  const { home } = find(owner(needs, control).surface, control.dataset);
  return home && (home.type !== "input" || home.dispatch_action);
}

async function use(needs, control, selected) {
  const { store } = needs;
  const { surface, ts, where, root } = owner(needs, control);
  const { part } = find(surface, control.dataset);
  if (!part) return;
  if (part.confirm && !(await confirmDialog(part.confirm))) {
    putBack(control, part);
    return;
  }
  const { block, action } = control.dataset;
  const key = `${ts}/${block}/${action}`;
  const hadFocus = control.contains(document.activeElement);
  store.setControl(key, { pending: true });
  let error;
  try {
    const use = { ...where, action_id: action, confirm: part.confirm ? true : undefined };
    const values = valuesIn(root);
    // A button beside fields sends what they hold along with it.
    await (part.type === "button" && where.ts && Object.keys(values).length
      ? needs.workspace().submit({ ...use, values })
      : needs
          .workspace()
          .click({ ...use, block_id: block, value: part.type === "button" ? part.value : undefined, selected }));
  } catch (failure) {
    error = explain(failure.message, failure.sentence);
  }
  store.setControl(key, error ? { error } : undefined);
  // A disabled control loses the focus; people on the keyboard get it back where they were.
  if (hadFocus)
    queueMicrotask(
      () => control.isConnected && document.activeElement === document.body && control.focus({ preventScroll: true }),
    );
}

function putBack(control, part) {
  const select = control.matches("select") ? control : control.querySelector("select");
  if (select) select.value = part.initial_option?.value ?? "";
}
