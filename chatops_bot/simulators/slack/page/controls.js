// The interactive elements of Block Kit. Native inputs wherever one serves: they work by keyboard, on phones, and
// with screen readers. A select is a field that filters its list (`picker.js`); an overflow menu is a `<details>`.

import { h, icon } from "./dom.js";
import { labelOf, optionsOf } from "./options.js";
import { chosenIn } from "./picker.js";
import { t } from "./words.js";

/** `extra`: { id, labelledBy, describedBy, invalid } when the element is the field of an input block. */
export function element(part, block, scope, extra = {}) {
  const draw = ELEMENTS[part.type];
  const name = `${scope.ts}/${block.block_id}/${part.action_id}`;
  const state = scope.controls.get(name) ?? {};
  if (!draw) return h("span", { class: "unsupported" }, t("unsupported", part.type));
  const common = {
    id: extra.id,
    "aria-labelledby": extra.labelledBy,
    "aria-describedby": extra.describedBy,
    "aria-invalid": extra.invalid ? "true" : undefined,
    "data-block": block.block_id,
    "data-action": part.action_id,
    "data-kind": part.type,
    // A waiting control keeps the focus: it is not disabled, but its use is not taken a second time.
    "aria-disabled": state.pending ? "true" : undefined,
  };
  const own = scope.choices?.get(name);
  const shown = draw(part, common, { ...state, own, name, key: `${scope.area}-${name}` });
  shown.dataset.key = `${part.action_id}:${part.type}`;
  return shown;
}

const ELEMENTS = {
  button(part, common, { pending }) {
    const label =
      part.text?.html === undefined ? h("span", {}, part.text?.text ?? "") : h("span", { html: part.text.html });
    const props = {
      ...common,
      class: `button ${part.style ?? "default"}`,
      "aria-label": part.accessibility_label,
      "aria-busy": pending ? "true" : undefined,
    };
    if (part.url) return h("a", { ...props, href: part.url, target: "_blank", rel: "noopener noreferrer" }, label);
    return h("button", { type: "button", ...props }, label);
  },

  static_select: (part, common, state) => picker(part, common, state),
  multi_static_select: (part, common, state) => picker(part, common, state),

  checkboxes(part, common, { key }) {
    const chosen = new Set((part.initial_options ?? []).map((option) => option.value));
    return choiceGroup("checkbox", part, common, chosen, key);
  },

  radio_buttons(part, common, { key }) {
    return choiceGroup("radio", part, common, new Set([part.initial_option?.value]), key);
  },

  overflow(part, common, { key }) {
    const { id, ...data } = common;
    return h(
      "details",
      { class: "overflow", ...data },
      h("summary", { class: "button default", "aria-label": t("moreActions") }, icon("more")),
      h(
        "div",
        { class: "menu" },
        part.options.map((option) =>
          h(
            "button",
            { type: "button", class: "menu-item", "data-option": option.value, "data-key": `${key}-${option.value}` },
            option.text?.text,
          ),
        ),
      ),
    );
  },

  plain_text_input(part, common) {
    const limits = { minlength: part.min_length || undefined, maxlength: part.max_length };
    const { id, "data-block": block, "data-action": action, "data-kind": kind, ...rest } = common;
    const props = { ...rest, id, ...limits, class: "text-input", placeholder: part.placeholder?.text };
    const own = { "data-block": block, "data-action": action, "data-kind": kind, "data-key": "field" };
    const field = part.multiline
      ? h("textarea", { ...props, ...own, rows: 4 }, part.initial_value ?? "")
      : h("input", { ...props, ...own, type: "text", autocomplete: "off", value: part.initial_value });
    const counted = part.max_length || part.min_length;
    return h("div", { class: "text-frame" }, field, counted && h("span", { class: "counter", "aria-hidden": "true" }));
  },

  number_input: (part, common) =>
    h("input", {
      ...common,
      class: "text-input",
      type: "number",
      step: part.is_decimal_allowed ? "any" : 1,
      min: part.min_value,
      max: part.max_value,
      value: part.initial_value,
    }),
  email_text_input: (part, common) =>
    h("input", { ...common, class: "text-input", type: "email", value: part.initial_value }),
  url_text_input: (part, common) =>
    h("input", { ...common, class: "text-input", type: "url", value: part.initial_value }),
  datepicker: (part, common) =>
    h("input", { ...common, class: "text-input short", type: "date", value: part.initial_date }),
  timepicker: (part, common) =>
    h("input", { ...common, class: "text-input short", type: "time", value: part.initial_time }),
};

/** A select, of one or of several: chips for what is chosen of several, and the field that filters. */
function picker(part, common, { pending, own, name }) {
  const many = part.type.startsWith("multi_");
  const options = optionsOf(part);
  const chosen = chosenIn(part, own);
  const label = part.placeholder?.text ?? t(many ? "selectMany" : "select");
  const { id, "data-block": block, "data-action": action, "data-kind": kind, ...aria } = common;
  const shown = many ? "" : labelOf(options.find(({ value }) => value === chosen[0]));
  const field = h("input", {
    ...aria,
    id,
    type: "text",
    role: "combobox",
    class: "picker-field",
    "aria-expanded": "false",
    "aria-haspopup": "listbox",
    "aria-autocomplete": "list",
    "aria-label": id ? undefined : label,
    // A short list is quicker to tap than to search, so no keyboard comes up on a phone.
    inputmode: options.length <= 8 ? "none" : undefined,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: chosen.length && many ? undefined : label,
    value: shown,
    readonly: pending,
    "data-key": "field",
  });
  const chips = chosen.map((value) => chip(value, labelOf(options.find((option) => option.value === value))));
  return h(
    "div",
    {
      class: `picker${many ? " many" : ""}${pending ? " busy" : ""}`,
      "data-block": block,
      "data-action": action,
      "data-kind": kind,
      "data-choice": name,
      "data-label": label,
      "data-shown": shown,
      "data-values": JSON.stringify(chosen),
    },
    many && chips,
    field,
    pending ? h("span", { class: "spinner", "aria-hidden": "true" }) : icon("down"),
  );
}

const chip = (value, label) =>
  h(
    "span",
    { class: "chip", "data-key": `chip-${value}` },
    h("span", {}, label),
    h(
      "button",
      { type: "button", class: "chip-remove", "aria-label": t("remove", label), "data-value": value },
      icon("close"),
    ),
  );

function choices(type, options, chosen, key) {
  return options.map((option) =>
    h(
      "label",
      { class: "choice" },
      h("input", { type, name: key, value: option.value, checked: chosen.has(option.value) }),
      h("span", {}, option.text?.text, option.description && h("small", { class: "hint" }, option.description.text)),
    ),
  );
}

function choiceGroup(type, part, common, chosen, key) {
  const { id, ...data } = common;
  return h(
    "div",
    { class: "choices", id, role: type === "radio" ? "radiogroup" : "group", ...data },
    choices(type, part.options, chosen, key),
  );
}

/** What a control holds: an option's value, a list of them, a text, or null. */
export function valueOf(node, kind) {
  switch (kind) {
    case "static_select":
      return JSON.parse(node.dataset.values)[0] ?? null;
    case "multi_static_select":
      return JSON.parse(node.dataset.values);
    case "radio_buttons":
      return node.querySelector("input:checked")?.value ?? null;
    case "checkboxes":
      return [...node.querySelectorAll("input:checked")].map((input) => input.value);
    default:
      return node.value || null;
  }
}

const STATELESS = new Set(["button", "overflow"]);

/** All that the controls under `root` hold, as { block_id: { action_id: value } }. */
export function valuesIn(root) {
  const values = {};
  for (const node of root.querySelectorAll("[data-action][data-kind]")) {
    const { block, action, kind } = node.dataset;
    if (!STATELESS.has(kind)) (values[block] ??= {})[action] = valueOf(node, kind);
  }
  return values;
}

/** Texts that are shorter than their field asks, as { block_id: sentence }. An empty field is not too short. */
export function tooShort(root) {
  const short = [...root.querySelectorAll("[minlength]")].filter(
    ({ value, minLength }) => value && value.length < minLength,
  );
  return Object.fromEntries(short.map(({ dataset, minLength }) => [dataset.block, t("tooShort", minLength)]));
}

/** After a render: what follows from what the reader has typed or chosen, and not from the JSON. */
export function settleControls(root) {
  for (const field of root.querySelectorAll(".picker:not(.many) > input[aria-expanded=false]"))
    field.value = field.parentElement.dataset.shown;
  for (const frame of root.querySelectorAll(".text-frame")) count(frame);
}

function count(frame) {
  const counter = frame.querySelector(".counter");
  if (!counter) return;
  const { value, minLength, maxLength } = frame.querySelector(".text-input");
  counter.textContent =
    value && value.length < minLength ? t("atLeast", value.length, minLength) : maxLength > 0 ? `${value.length} / ${maxLength}` : "";
}

document.addEventListener("input", (event) => {
  const frame = event.target.closest(".text-frame");
  if (frame) count(frame);
});
