// The options of a select: flat or in groups, found by what somebody types, and the entries of a listbox.

import { h, icon } from "./dom.js";
import { t } from "./words.js";

export const optionsOf = (part) => part.options ?? (part.option_groups ?? []).flatMap((group) => group.options);
export const labelOf = (option) => option?.text?.text ?? option?.value ?? "";

/** The values chosen at first: a list, also for a select of one. */
export const initialValues = (part) =>
  (part.initial_options ?? [part.initial_option]).filter(Boolean).map((option) => option.value);

const matches = (option, query) =>
  `${labelOf(option)} ${option.description?.text ?? ""}`.toLowerCase().includes(query.trim().toLowerCase());

/** `[{ label?, options }]`, without the options that do not match and the groups that are then empty. */
export function filtered(part, query) {
  const groups = part.option_groups
    ? part.option_groups.map((group) => ({ label: group.label?.text, options: group.options }))
    : [{ options: part.options ?? [] }];
  return groups
    .map((group) => ({ ...group, options: group.options.filter((option) => matches(option, query)) }))
    .filter((group) => group.options.length);
}

/** The inside of the listbox. `active` is an index over all options; ids are `${id}-${index}`. */
export function listEntries(groups, { id, active, chosen }) {
  let index = -1;
  const entry = (option) => {
    index += 1;
    const selected = chosen.includes(option.value);
    return h(
      "div",
      {
        role: "option",
        id: `${id}-${index}`,
        class: `picker-option${index === active ? " active" : ""}`,
        "aria-selected": selected ? "true" : "false",
        "data-value": option.value,
        "data-index": index,
      },
      h(
        "span",
        { class: "picker-option-text" },
        labelOf(option),
        option.description && h("small", { class: "hint" }, option.description.text),
      ),
      selected && icon("check"),
    );
  };
  if (!groups.length) return [h("p", { class: "picker-none" }, t("noMatches"))];
  return groups.flatMap(({ label, options }, number) =>
    label
      ? h(
          "div",
          { role: "group", "aria-labelledby": `${id}-group-${number}` },
          h("p", { class: "picker-group", id: `${id}-group-${number}` }, label),
          options.map(entry),
        )
      : options.map(entry),
  );
}
