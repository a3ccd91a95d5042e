// The quick switcher (Ctrl+K): type a few letters of a channel, an unread thread or a person, and Enter goes there.

import { h, icon, morphChildren } from "./dom.js";
import { appBadge, avatar, roleBadge } from "./people.js";
import { stored, t } from "./words.js";

export class Switcher {
  /** `needs`: { go(channel, thread), switchTo(person) } */
  constructor(store, needs) {
    this.store = store;
    this.needs = needs;
    this.field = h("input", {
      type: "text",
      class: "switcher-field",
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "switcher-list",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.list = h("div", { class: "switcher-list", id: "switcher-list", role: "listbox" });
    this.root = h("dialog", { class: "dialog switcher" }, this.field, this.list);
    document.body.append(this.root);
    this.field.addEventListener("input", () => this.#search());
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.root.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#take(Number(option.dataset.index));
      else if (event.target === this.root) this.root.close();
    });
  }

  open() {
    if (!this.store.me || document.querySelector("dialog[open]")) return;
    for (const part of [this.root, this.field, this.list]) part.setAttribute("aria-label", t("jumpTo"));
    this.field.placeholder = t("jumpHint");
    this.field.value = "";
    this.root.showModal();
    this.#search();
  }

  #entries() {
    const { store } = this;
    const threads = store.threads.map((thread) => ({
      text: store.threadTitle(thread),
      face: icon("reply"),
      note: h("span", { class: "hint" }, t("unreadThread")),
      take: () => this.needs.go(thread.channel, thread.thread_ts),
    }));
    const channels = store.channels.map((channel) => ({
      text: store.title(channel),
      face: channel.kind === "im" ? avatar({ ...store.bot, is_bot: true }, "small") : icon("hash"),
      note: channel.kind === "im" ? appBadge() : h("span", { class: "hint" }, stored(channel.topic)),
      take: () => this.needs.go(channel.id),
    }));
    const people = Object.entries(store.people)
      .filter(([, person]) => person.id !== store.me.id)
      .map(([key, person]) => ({
        text: t("actAs", person.name),
        search: `${person.name} ${key} ${person.title ?? ""} ${stored(person.title)} ${person.role} ${t(person.role)}`,
        face: avatar(person, "small"),
        note: roleBadge(person.role),
        take: () => this.needs.switchTo(key),
      }));
    return [...threads, ...channels, ...people];
  }

  #search() {
    const words = this.field.value.toLowerCase().split(/[\s#@]+/);
    this.found = this.#entries().filter(({ text, search = "" }) =>
      words.every((word) => `${text} ${search}`.toLowerCase().includes(word)),
    );
    this.active = 0;
    this.#draw();
  }

  #draw() {
    const options = this.found.map(({ text, face, note }, index) =>
      h(
        "div",
        {
          role: "option",
          id: `switcher-${index}`,
          class: "completion-option",
          "data-index": index,
          "aria-selected": index === this.active ? "true" : "false",
        },
        face,
        h("b", {}, text),
        note,
      ),
    );
    morphChildren(this.list, h("div", {}, options.length ? options : h("p", { class: "picker-none" }, t("noMatches"))));
    if (options.length) this.field.setAttribute("aria-activedescendant", `switcher-${this.active}`);
    else this.field.removeAttribute("aria-activedescendant");
    this.list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    if (event.isComposing) return;
    const last = this.found.length - 1;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && last >= 0) {
      this.active = (this.active + step + last + 1) % (last + 1);
      this.#draw();
    } else if (event.key === "Enter") this.#take(this.active);
    else return;
    event.preventDefault();
  }

  #take(index) {
    const chosen = this.found[index];
    if (!chosen) return;
    this.root.close();
    chosen.take();
  }
}
