// The interactive elements of Block Kit. Native inputs wherever one exists: they work by keyboard, on phones, and
// with screen readers; `<details>` with checkboxes for choosing several, and for overflow menus.

import { h, icon } from "./dom.js";
import { t } from "./words.js";

/** `extra`: { id, labelledBy, describedBy, invalid } when the element is the field of an input block. */
export function element(part, block, scope, extra = {}) {
  const draw = ELEMENTS[part.type];
  const state = scope.controls.get(`${scope.ts}/${block.block_id}/${part.action_id}`) ?? {};
  if (!draw) return h("span", { class: "unsupported" }, t("unsupported", part.type));
  const common = {
    id: extra.id,
    "aria-labelledby": extra.labelledBy,
    "aria-describedby": extra.describedBy,
    "aria-invalid": extra.invalid ? "true" : undefined,
    "data-block": block.block_id,
    "data-action": part.action_id,
    "data-kind": part.type,
    disabled: scope.disabled || state.pending,
  };
  const shown = draw(part, common, { ...state, key: `${scope.ts}-${block.block_id}-${part.action_id}` });
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

  static_select(part, common, { pending }) {
    const chosen = part.initial_option?.value;
    const option = (one) =>
      h("option", { value: one.value, selected: one.value === chosen }, one.text?.text ?? one.value);
    const groups = part.option_groups?.map((group) =>
      h("optgroup", { label: group.label?.text }, group.options.map(option)),
    );
    return h(
      "span",
      { class: `select${pending ? " busy" : ""}` },
      h(
        "select",
        {
          ...common,
          "aria-label": common.id ? undefined : (part.placeholder?.text ?? t("select")),
          "data-initial": chosen ?? "",
        },
        h(
          "option",
          { value: "", selected: chosen === undefined, disabled: true, hidden: true },
          part.placeholder?.text ?? t("select"),
        ),
        groups ?? (part.options ?? []).map(option),
      ),
      icon("down"),
    );
  },

  multi_static_select(part, common, { key }) {
    const chosen = new Set((part.initial_options ?? []).map((option) => option.value));
    const options = part.options ?? (part.option_groups ?? []).flatMap((group) => group.options);
    const label = part.placeholder?.text ?? t("selectMany");
    const { id, disabled, "aria-labelledby": labelledBy, ...data } = common;
    return h(
      "details",
      { class: "multi", ...data, "data-label": label },
      h(
        "summary",
        {
          id,
          class: "multi-summary",
          "aria-label": id ? undefined : label,
          "aria-labelledby": labelledBy && `${labelledBy} ${id}`,
        },
        h("span", { class: "multi-value" }, chosen.size ? names(options, chosen) : label),
        icon("down"),
      ),
      h(
        "div",
        { class: "multi-options", role: "group", "aria-label": label },
        choices("checkbox", options, chosen, key, disabled),
      ),
    );
  },

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
    const props = {
      ...common,
      class: "text-input",
      placeholder: part.placeholder?.text,
      maxlength: part.max_length,
      autocomplete: "off",
    };
    return part.multiline
      ? h("textarea", { ...props, rows: 4 }, part.initial_value ?? "")
      : h("input", { ...props, type: "text", value: part.initial_value });
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

const names = (options, chosen) =>
  options
    .filter((option) => chosen.has(option.value))
    .map((option) => option.text?.text)
    .join(", ");

function choices(type, options, chosen, key, disabled) {
  return options.map((option) =>
    h(
      "label",
      { class: "choice" },
      h("input", { type, name: key, value: option.value, checked: chosen.has(option.value), disabled }),
      h("span", {}, option.text?.text, option.description && h("small", { class: "hint" }, option.description.text)),
    ),
  );
}

function choiceGroup(type, part, common, chosen, key) {
  const { id, disabled, ...data } = common;
  return h(
    "div",
    { class: "choices", id, role: type === "radio" ? "radiogroup" : "group", ...data },
    choices(type, part.options, chosen, key, disabled),
  );
}

/** What a control holds: an option's value, a list of them, a text, or null. */
export function valueOf(node, kind) {
  switch (kind) {
    case "static_select":
      return node.value || null;
    case "radio_buttons":
      return node.querySelector("input:checked")?.value ?? null;
    case "multi_static_select":
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

/** The chosen names in the closed box of a multi select. */
export function refreshSummary(details) {
  const chosen = [...details.querySelectorAll("input:checked")].map(
    (input) => input.closest("label").querySelector("span").firstChild.data,
  );
  details.querySelector(".multi-value").textContent = chosen.join(", ") || details.dataset.label;
}
