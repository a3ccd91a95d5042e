// The modal on top of a person's stack, on the native <dialog>. Each view of the stack keeps its own fields, so that
// what was typed below is still there when the one above is closed; what was typed is kept on every kind of failure.

import { renderBlocks } from "./blocks.js";
import { settleControls, tooShort, valuesIn } from "./controls.js";
import { h, icon, iconButton, morphChildren } from "./dom.js";
import { settle } from "./message.js";
import { t } from "./words.js";

const FIRST_FIELD = "input, select, textarea";

export class ViewDialog {
  /** `needs`: { submit(view, values): { ok, view?, errors?, text? }, close(view) } */
  constructor(store, needs) {
    this.store = store;
    this.needs = needs;
    this.errors = {};
    /** view id → the element with its fields */
    this.bodies = new Map();
    this.title = h("h2", { id: "view-title" });
    this.frame = h("div", { class: "dialog-body", tabindex: -1 });
    this.crossButton = iconButton("close", t("close"), { "data-view-do": "close" });
    this.closeButton = h("button", { type: "button", class: "button default", "data-view-do": "close" });
    this.submitButton = h("button", { type: "submit", class: "button primary" });
    this.note = h("p", { class: "field-error", role: "alert" });
    this.form = h(
      "form",
      { novalidate: true },
      h("header", { class: "dialog-header" }, this.title, this.crossButton),
      this.frame,
      h("footer", { class: "dialog-footer" }, this.note, this.closeButton, this.submitButton),
    );
    this.root = h("dialog", { class: "dialog view", "aria-labelledby": "view-title" }, this.form);
    document.body.append(this.root);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
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

  /**
   * Shows a view, or takes the modal away (null). The same view again keeps what was typed; other content in it, with
   * nothing to type in, is a page that was turned: it is read from its beginning.
   */
  show(view, errors = {}) {
    const another = view?.id !== this.view?.id;
    const turned = !another && view?.hash !== this.view?.hash;
    this.view = view;
    this.errors = errors;
    this.#say("");
    if (!view) {
      this.bodies.clear();
      if (this.root.open) this.root.close();
      return;
    }
    this.root.dataset.view = view.id;
    this.render();
    if (!this.root.open) this.root.showModal();
    const field = this.frame.querySelector(FIRST_FIELD);
    if (another) (field ?? (view.submit ? this.submitButton : this.frame)).focus();
    else if (turned && !field) this.#readFromTheTop();
    else if (Object.keys(errors).length) this.#focusError();
  }

  render() {
    const { view } = this;
    if (!view) return;
    const { controls, choices } = this.store;
    const scope = { area: "view", ts: view.id, controls, choices, errors: this.errors };
    const deeper = Boolean(view.previous_view_id);
    this.title.textContent = view.title?.text ?? "";
    this.crossButton.setAttribute("aria-label", t(deeper ? "back" : "close"));
    this.crossButton.title = t(deeper ? "back" : "close");
    this.crossButton.replaceChildren(icon(deeper ? "back" : "close"));
    this.form.classList.toggle("deeper", deeper);
    this.closeButton.textContent = view.close?.text ?? t("cancel");
    this.submitButton.textContent = view.submit?.text ?? t("submit");
    this.submitButton.hidden = !view.submit;
    if (!this.bodies.has(view.id)) this.bodies.set(view.id, h("div", {}));
    const body = this.bodies.get(view.id);
    if (this.frame.firstChild !== body) this.frame.replaceChildren(body);
    morphChildren(body, settle(h("div", {}, renderBlocks(view.blocks, scope)), this.store));
    settleControls(body);
  }

  #readFromTheTop() {
    this.frame.scrollTop = 0;
    this.frame.focus();
  }

  #say(text) {
    this.note.replaceChildren(...(text ? [icon("warning"), text] : []));
  }

  #focusError() {
    const field = this.frame.querySelector("[aria-invalid]");
    field?.focus();
    field?.closest(".field-block").scrollIntoView({ block: "nearest" });
  }

  async #submit() {
    const { view } = this;
    if (this.pending || !view.submit) return;
    const short = tooShort(this.frame);
    if (Object.keys(short).length) {
      this.show(view, short);
      return;
    }
    this.#wait(true);
    this.#say("");
    const answer = await this.needs.submit(view, valuesIn(this.frame));
    this.#wait(false);
    if (this.view !== view && this.view?.id !== view.id) return;
    if (answer.ok) this.show(answer.view ?? null);
    else if (answer.errors) this.show(this.view, answer.errors);
    else this.#say(answer.text);
  }

  #wait(pending) {
    this.pending = pending;
    this.form.setAttribute("aria-busy", String(pending));
    this.submitButton.setAttribute("aria-disabled", String(pending));
    this.submitButton.setAttribute("aria-busy", String(pending));
  }
}
