// Block Kit: the blocks of a message or modal as elements. A pure function of the JSON and of the controls' state.
// Interactive elements carry `data-block` and `data-action`; `interactions.js` finds the JSON back by these.

import { h, icon } from "./dom.js";
import { element as controlElement } from "./controls.js";
import { t } from "./words.js";

/** A text object (with the server's `html`) as an inline or block element. */
export function text(object, tag = "span", className, id) {
  if (!object) return null;
  if (typeof object === "string") return h(tag, { class: className, id }, object);
  if (object.html !== undefined) return h(tag, { class: className, id, html: object.html });
  return h(tag, { class: className, id }, object.text ?? "");
}

/** `scope`: { area, ts, controls, choices, errors } of the message or modal that owns the blocks. */
export function renderBlocks(blocks, scope) {
  const seen = {};
  return blocks.map((block) => {
    const draw = BLOCKS[block.type];
    const shown = draw ? draw(block, scope) : h("p", { class: "unsupported" }, t("unsupported", block.type));
    // A field is itself by its id. Other blocks often have none of their own, and get another with each edit: those are
    // the first, the second, … of their kind.
    seen[block.type] = (seen[block.type] ?? 0) + 1;
    shown.dataset.key = block.type === "input" ? block.block_id : `${block.type} ${seen[block.type]}`;
    return shown;
  });
}

const BLOCKS = {
  section(block, scope) {
    const accessory = block.accessory && controlElement(block.accessory, block, scope);
    return h(
      "div",
      { class: `block section${accessory ? " with-accessory" : ""}` },
      h(
        "div",
        { class: "section-text" },
        text(block.text, "div", "rich"),
        block.fields?.length &&
          h(
            "div",
            { class: "fields" },
            block.fields.map((field) => text(field, "div", "rich field")),
          ),
      ),
      accessory && h("div", { class: "accessory" }, accessory, failure(block, scope)),
    );
  },

  markdown: (block) => h("div", { class: "block rich markdown", html: block.html ?? "" }),

  rich_text: (block) => h("div", { class: "block rich markdown", html: block.html ?? "" }),

  header: (block) => text(block.text, "h3", "block header"),

  divider: () => h("hr", { class: "block divider" }),

  context(block) {
    const parts = block.elements.map((part) =>
      part.type === "image"
        ? h("span", { class: "context-image", title: part.alt_text }, part.alt_text)
        : text(part, "span", "rich"),
    );
    return h("div", { class: "block context" }, parts);
  },

  actions(block, scope) {
    const elements = block.elements.map((part) => controlElement(part, block, scope));
    return h("div", { class: "block actions" }, elements, failure(block, scope));
  },

  context_actions(block, scope) {
    return h(
      "div",
      { class: "block actions small" },
      block.elements.flatMap((part) =>
        part.type === "feedback_buttons"
          ? [part.positive_button, part.negative_button]
              .filter(Boolean)
              .map((button) => controlElement({ ...button, type: "button", action_id: part.action_id }, block, scope))
          : [controlElement({ type: "button", ...part, text: part.text ?? { text: part.alt_text } }, block, scope)],
      ),
      failure(block, scope),
    );
  },

  input(block, scope) {
    const error = scope.errors?.[block.block_id];
    const id = `field-${scope.area}-${scope.ts}-${block.block_id}`;
    return h(
      "div",
      { class: `block field-block${error ? " invalid" : ""}` },
      h(
        "label",
        { for: id, id: `${id}-label`, class: "field-label" },
        block.label?.text,
        block.optional && h("span", { class: "hint" }, ` ${t("optional")}`),
      ),
      controlElement(block.element, block, scope, {
        id,
        labelledBy: `${id}-label`,
        describedBy: [error && `${id}-error`, block.hint && `${id}-hint`].filter(Boolean).join(" ") || undefined,
        invalid: Boolean(error),
      }),
      error && h("p", { class: "field-error", id: `${id}-error`, "data-key": "error" }, icon("warning"), error),
      block.hint && text(block.hint, "p", "hint", `${id}-hint`),
      failure(block, scope),
    );
  },

  image(block) {
    const label = block.title?.text ?? block.alt_text ?? block.image_url;
    return h(
      "p",
      { class: "block" },
      h("a", { href: block.image_url, target: "_blank", rel: "noopener noreferrer" }, label),
    );
  },

  table: (block) => table(block),
  data_table: (block) => table(block),

  plan(block, scope) {
    const tasks = block.tasks ?? [];
    return h(
      "section",
      { class: "block plan" },
      h("p", { class: "plan-title" }, textOf(block.title)),
      tasks.map((task) => BLOCKS.task_card(task, scope)),
    );
  },

  task_card(task) {
    const body = [task.details, task.output].filter(Boolean).map((part) => text(part, "div", "rich markdown"));
    const title = [
      h("span", { class: `task-state ${task.status}`, role: "img", "aria-label": task.status }),
      textOf(task.title),
    ];
    return body.length
      ? h("details", { class: "block task" }, h("summary", {}, title), body)
      : h("div", { class: "block task" }, h("p", { class: "task-title" }, title));
  },
};

const textOf = (value) => (typeof value === "string" ? value : (value?.text ?? ""));

function table({ rows = [], column_settings: columns = [] }) {
  const [head = [], ...body] = rows;
  const cell = (tag) => (value, column) => h(tag, { "data-align": columns[column]?.align, html: value?.html ?? "" });
  return h(
    "div",
    { class: "block rich table-scroll", tabindex: 0, role: "region", "aria-label": "table" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, head.map(cell("th")))),
      h(
        "tbody",
        {},
        body.map((row) => h("tr", {}, row.map(cell("td")))),
      ),
    ),
  );
}

/** What went wrong with a control of this block, beside it. */
function failure(block, scope) {
  const parts = block.elements ?? [block.accessory, block.element];
  for (const part of parts) {
    const error = scope.controls.get(`${scope.ts}/${block.block_id}/${part?.action_id}`)?.error;
    if (error) return h("span", { class: "click-error", role: "alert", "data-key": "error" }, icon("warning"), error);
  }
  return null;
}
