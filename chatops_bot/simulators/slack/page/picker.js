// The open list of a select. One list is open at a time; it stands in the top layer beside its field (below it, or
// above where there is more room), so neither a scrolling pane nor a dialog cuts it off. The focus stays in the field.

import { h } from "./dom.js";
import { filtered, initialValues, listEntries, optionsOf } from "./options.js";

const LIST_ID = "picker-list";
const MOST_HEIGHT = 300;
const PAGE = 8;

export class Picker {
  /** `needs`: { partOf(control): its JSON, chosenOf(control): values, choose(control, values), used(control, values) } */
  constructor(needs) {
    this.needs = needs;
    this.control = null;
    this.list = h("div", { class: "picker-list", id: LIST_ID, role: "listbox", popover: "manual" });
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => this.#clicked(event));
    document.addEventListener("pointerdown", (event) => this.#pressed(event));
    document.addEventListener("click", (event) => this.#removed(event));
    document.addEventListener("keydown", (event) => this.#key(event), true);
    document.addEventListener("input", (event) => this.#typed(event));
    document.addEventListener("focusout", (event) => {
      if (this.control && event.target === this.field) this.close();
    });
    for (const moved of ["scroll", "resize"]) addEventListener(moved, () => this.control && this.#stand(), true);
  }

  get field() {
    return this.control?.querySelector("[role=combobox]");
  }

  get many() {
    return this.control.dataset.kind.startsWith("multi_");
  }

  open(control) {
    const field = control.querySelector("[role=combobox]");
    if (this.control === control || field.ariaDisabled === "true") return;
    this.close();
    this.control = control;
    this.before = this.needs.chosenOf(control);
    this.query = "";
    this.groups = filtered(this.needs.partOf(control), "");
    const first = optionsOf(this.needs.partOf(control)).findIndex(({ value }) => this.before.includes(value));
    this.active = Math.max(0, first);
    field.focus({ preventScroll: true });
    if (!this.many) field.select();
    (control.closest("dialog") ?? document.body).append(this.list);
    this.list.setAttribute("aria-label", field.getAttribute("aria-label") ?? control.dataset.label);
    this.list.setAttribute("aria-multiselectable", String(this.many));
    this.list.showPopover();
    this.#draw();
  }

  /** Closes the list; a choice of several that changed is used now. */
  close() {
    const { control, field } = this;
    if (!control) return;
    const { before, many } = this;
    this.control = null;
    if (this.list.matches(":popover-open")) this.list.hidePopover();
    field?.setAttribute("aria-expanded", "false");
    field?.removeAttribute("aria-activedescendant");
    if (field) field.value = many ? "" : control.dataset.shown;
    const now = this.needs.chosenOf(control);
    if (many && now.join("\n") !== before.join("\n")) this.needs.used(control, now);
  }

  #draw() {
    const chosen = this.needs.chosenOf(this.control);
    this.list.replaceChildren(...listEntries(this.groups, { id: LIST_ID, active: this.active, chosen }));
    const active = this.list.querySelector(".active");
    this.field.setAttribute("aria-expanded", "true");
    this.field.setAttribute("aria-controls", LIST_ID);
    if (active) this.field.setAttribute("aria-activedescendant", active.id);
    else this.field.removeAttribute("aria-activedescendant");
    this.#stand();
    active?.scrollIntoView({ block: "nearest" });
  }

  #stand() {
    if (!this.control.isConnected) return this.close();
    const box = this.control.getBoundingClientRect();
    const below = innerHeight - box.bottom - 12;
    const above = box.top - 12;
    const height = Math.min(MOST_HEIGHT, this.list.scrollHeight + 2);
    const up = below < height && above > below;
    const width = Math.min(Math.max(box.width, 200), innerWidth - 16);
    Object.assign(this.list.style, {
      width: `${width}px`,
      maxHeight: `${Math.max(120, Math.min(MOST_HEIGHT, up ? above : below))}px`,
      left: `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`,
      top: up ? "auto" : `${box.bottom + 4}px`,
      bottom: up ? `${innerHeight - box.top + 4}px` : "auto",
    });
    this.list.dataset.side = up ? "above" : "below";
    return undefined;
  }

  #pressed(event) {
    const control = event.target.closest?.(".picker");
    if (this.control && control !== this.control && !this.list.contains(event.target)) this.close();
    if (!control || event.target.closest(".chip-remove") || event.button !== 0) return;
    const field = control.querySelector("[role=combobox]");
    if (event.target !== field) event.preventDefault();
    if (this.control && event.target !== field) this.close();
    else this.open(control);
  }

  #removed(event) {
    const button = event.target.closest(".chip-remove");
    if (!button) return;
    const control = button.closest(".picker");
    this.#without(control, button.dataset.value);
  }

  #without(control, value) {
    const field = control.querySelector("[role=combobox]");
    if (field.ariaDisabled === "true") return;
    const left = this.needs.chosenOf(control).filter((one) => one !== value);
    this.needs.choose(control, left);
    field.focus();
    if (this.control) this.#draw();
    else this.needs.used(control, left);
  }

  #clicked(event) {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    this.active = Number(option.dataset.index);
    this.#choose(option.dataset.value);
  }

  #choose(value) {
    const { control } = this;
    if (!this.many) {
      this.needs.choose(control, [value]);
      this.close();
      this.needs.used(control, [value]);
      return;
    }
    const chosen = this.needs.chosenOf(control);
    const most = this.needs.partOf(control).max_selected_items ?? Infinity;
    const next = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
    if (next.length <= most) this.needs.choose(control, next);
    if (this.field.value) {
      this.field.value = "";
      this.groups = filtered(this.needs.partOf(control), "");
      this.active = this.groups.flatMap(({ options }) => options).findIndex((option) => option.value === value);
    }
    this.#draw();
  }

  #typed(event) {
    const control = event.target.matches("[role=combobox]") && event.target.closest(".picker");
    if (!control) return;
    const typed = event.target.value;
    if (this.control !== control) this.open(control);
    if (this.control !== control) return; // it waits for the app
    event.target.value = typed;
    this.groups = filtered(this.needs.partOf(control), typed);
    this.active = 0;
    this.#draw();
  }

  #key(event) {
    const control = event.target.matches?.("[role=combobox]") && event.target.closest(".picker");
    if (!control || event.isComposing || event.ctrlKey || event.metaKey) return;
    const isOpen = this.control === control;
    if (!isOpen) {
      if (["ArrowDown", "ArrowUp", "Enter"].includes(event.key) || (event.key === " " && !event.target.value))
        this.open(control);
      else if (event.key === "Backspace" && this.#takeLast(control, event.target)) return;
      else return;
    } else if (event.key === "Tab") {
      this.close();
      return;
    } else if (event.key === "Escape" || (event.key === "ArrowUp" && event.altKey)) this.close();
    else if (event.key === "Enter") this.#enter();
    else if (event.key === "Backspace" && this.#takeLast(control, event.target)) return;
    else if (!this.#moved(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #enter() {
    const value = this.list.querySelector(".active")?.dataset.value;
    if (value !== undefined) this.#choose(value);
  }

  /** Backspace in the empty field of a choice of several takes its last chip. */
  #takeLast(control, field) {
    const last = this.needs.chosenOf(control).at(-1);
    if (!control.dataset.kind.startsWith("multi_") || field.value || last === undefined) return false;
    this.#without(control, last);
    return true;
  }

  #moved(key) {
    const last = this.groups.reduce((sum, { options }) => sum + options.length, 0) - 1;
    const wrap = (index) => (index < 0 ? last : index > last ? 0 : index);
    const target = {
      ArrowDown: wrap(this.active + 1),
      ArrowUp: wrap(this.active - 1),
      Home: 0,
      End: last,
      PageDown: Math.min(last, this.active + PAGE),
      PageUp: Math.max(0, this.active - PAGE),
    }[key];
    if (target === undefined || last < 0) return false;
    this.active = target;
    this.#draw();
    return true;
  }
}

/** What stands chosen in a select: the reader's choice, else what the app preselected, as far as it is still offered. */
export function chosenIn(part, own) {
  const offered = new Set(optionsOf(part).map(({ value }) => value));
  return (own ?? initialValues(part)).filter((value) => offered.has(value));
}
