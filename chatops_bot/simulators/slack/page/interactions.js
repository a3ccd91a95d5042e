// People use the controls of messages and modals. The JSON of a control is found back by its block and action ids;
// a block's `confirm` is asked first; while the app has not answered, the control waits; a failure stands beside it.

import { valueOf, valuesIn } from "./controls.js";
import { confirmDialog } from "./dialogs.js";
import { labelOf, optionsOf } from "./options.js";
import { Picker, chosenIn } from "./picker.js";
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
  const { store } = needs;
  const partOf = (control) => find(owner(needs, control).surface, control.dataset).part ?? {};
  const chosenOf = (control) => chosenIn(partOf(control), store.choices.get(control.dataset.choice));
  new Picker({
    partOf,
    chosenOf,
    choose(control, values) {
      store.choose(control.dataset.choice, values);
      // What is sent with a click that comes before the next render is the new choice already.
      control.dataset.values = JSON.stringify(values);
      if (!control.matches(".many")) control.dataset.shown = labelOf(optionsOf(partOf(control)).find(({ value }) => value === values[0]));
    },
    used(control, values) {
      if (dispatches(needs, control)) use(needs, control, control.matches(".many") ? values : values[0]);
    },
  });
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
    if (control?.matches(".choices, input[type=date], input[type=time]") && dispatches(needs, control))
      use(needs, control, valueOf(control, control.dataset.kind));
  });
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input.text-input[data-action]");
    if (!field || event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey) return;
    if (dispatches(needs, field)) {
      event.preventDefault();
      use(needs, field, field.value);
    }
  });
  document.addEventListener("pointerdown", (event) => {
    for (const details of document.querySelectorAll("details.overflow[open]"))
      if (!details.contains(event.target)) details.open = false;
  });
  document.addEventListener("keydown", (event) => menuKey(event), true);
}

/** In an overflow menu, arrows move and Escape closes. */
function menuKey(event) {
  const details = event.target.closest?.("details[open].overflow");
  if (!details) return;
  const items = [...details.querySelectorAll(".menu-item")];
  const at = items.indexOf(document.activeElement);
  const target = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Escape") {
    details.open = false;
    details.querySelector("summary").focus();
  } else if (target !== undefined) items.at(target % items.length).focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
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
  const { block, action } = control.dataset;
  const key = `${ts}/${block}/${action}`;
  if (!part || store.controls.get(key)?.pending) return;
  if (part.confirm && !(await confirmDialog(part.confirm))) {
    store.choices.delete(key);
    store.changed();
    return;
  }
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
}
