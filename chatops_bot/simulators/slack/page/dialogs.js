// Confirm dialogs and modals on the native <dialog>: it traps focus, closes on Esc and returns focus by itself.

import { renderBlocks, text } from "./blocks.js";
import { valuesIn } from "./controls.js";
import { h, iconButton, morphChildren } from "./dom.js";
import { settle } from "./message.js";
import { t } from "./words.js";

/** Asks by a block's `confirm` object; resolves to whether the person agreed. */
export function confirmDialog(confirm) {
  const deny = h(
    "button",
    { type: "button", class: "button default", value: "deny" },
    confirm.deny?.text ?? t("cancel"),
  );
  const accept = h(
    "button",
    { type: "button", class: `button ${confirm.style === "danger" ? "danger solid" : "primary"}`, value: "confirm" },
    confirm.confirm?.text ?? t("confirm"),
  );
  const dialog = h(
    "dialog",
    {
      class: "dialog confirm",
      role: "alertdialog",
      "aria-labelledby": "confirm-title",
      "aria-describedby": "confirm-text",
    },
    h(
      "header",
      { class: "dialog-header" },
      h("h2", { id: "confirm-title" }, confirm.title?.text ?? t("sureTitle")),
      iconButton("close", t("close"), { value: "deny" }),
    ),
    h("div", { class: "dialog-body", id: "confirm-text" }, text(confirm.text, "div", "rich")),
    h("footer", { class: "dialog-footer" }, deny, accept),
  );
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) dialog.close(button.value);
    else if (event.target === dialog) dialog.close("deny");
  });
  dialog.showModal();
  // The safe answer has the focus, so that a hurried Enter changes nothing.
  deny.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "confirm");
    });
  });
}

/** The modal on top of a person's stack. `needs`: { submit(view, values), close(view) }. */
export class ViewDialog {
  constructor(store, needs) {
    this.store = store;
    this.needs = needs;
    this.errors = {};
    this.title = h("h2", { id: "view-title" });
    this.body = h("div", { class: "dialog-body" });
    this.closeButton = h("button", { type: "button", class: "button default", "data-view-do": "close" });
    this.submitButton = h("button", { type: "submit", class: "button primary" });
    this.note = h("p", { class: "field-error", role: "alert" });
    this.form = h(
      "form",
      { novalidate: true },
      h("header", { class: "dialog-header" }, this.title, iconButton("close", t("close"), { "data-view-do": "close" })),
      this.body,
      h("footer", { class: "dialog-footer" }, this.note, this.closeButton, this.submitButton),
    );
    this.root = h("dialog", { class: "dialog view", "aria-labelledby": "view-title" }, this.form);
    document.body.append(this.root);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.root.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.needs.close(this.view);
    });
    this.root.addEventListener(
      "click",
      (event) => event.target.closest("[data-view-do=close]") && this.needs.close(this.view),
    );
  }

  /** Shows a view, or takes the modal away (null). The same view again keeps what was typed. */
  show(view, errors = {}) {
    const another = view?.id !== this.view?.id;
    this.view = view;
    this.errors = errors;
    if (!view) return this.root.open && this.root.close();
    if (another) this.body.replaceChildren();
    this.note.textContent = "";
    this.root.dataset.view = view.id;
    this.render();
    if (!this.root.open) this.root.showModal();
    if (another) this.body.querySelector("input, select, textarea, summary")?.focus();
    else if (Object.keys(errors).length) this.body.querySelector("[aria-invalid]")?.focus();
    return undefined;
  }

  render() {
    if (!this.view) return;
    const scope = { ts: this.view.id, controls: this.store.controls, errors: this.errors };
    this.title.textContent = this.view.title?.text ?? "";
    this.closeButton.textContent = this.view.close?.text ?? t("cancel");
    this.submitButton.textContent = this.view.submit?.text ?? t("submit");
    this.submitButton.hidden = !this.view.submit;
    morphChildren(this.body, settle(h("div", {}, renderBlocks(this.view.blocks, scope)), this.store));
  }

  async #submit() {
    this.submitButton.disabled = true;
    this.submitButton.setAttribute("aria-busy", "true");
    const answer = await this.needs.submit(this.view, valuesIn(this.body));
    this.submitButton.disabled = false;
    this.submitButton.removeAttribute("aria-busy");
    if (answer.ok) return this.show(answer.view ?? null);
    if (answer.errors) return this.show(this.view, answer.errors);
    this.note.textContent = answer.text;
    return undefined;
  }
}
