// Workspace name, channels with their unread marks, the direct conversation with the bot, and who the reader is.

import { h, icon, iconButton, morphChildren } from "./dom.js";
import { avatar, roleBadge } from "./people.js";
import { setTheme, theme } from "./theme.js";
import { language, stored, t } from "./words.js";

export class Sidebar {
  /** `needs`: { switchTo(person), setLanguage(language) } */
  constructor(root, store, needs) {
    this.root = root;
    this.store = store;
    this.needs = needs;
    this.body = h("div", { class: "sidebar-body" });
    this.meButton = h("button", { type: "button", class: "me", "aria-haspopup": "menu", "aria-expanded": "false" });
    this.menu = h("div", { class: "person-menu", role: "menu", hidden: true });
    this.tip = h("div", { class: "tip", role: "note", hidden: true });
    root.replaceChildren(this.body, this.tip, this.menu, this.meButton);
    this.meButton.addEventListener("click", () => (this.menu.hidden ? this.#openMenu() : this.#closeMenu()));
    this.menu.addEventListener("keydown", (event) => this.#menuKey(event));
    this.menu.addEventListener("click", (event) => this.#chosen(event));
    document.addEventListener("pointerdown", (event) => {
      if (!this.menu.hidden && !this.menu.contains(event.target) && !this.meButton.contains(event.target))
        this.#closeMenu(false);
    });
  }

  /** `place`: { channel, thread } that are open. */
  render({ channel: current, thread }) {
    const { store } = this;
    if (!store.me) return;
    this.root.setAttribute("aria-label", store.team.name);
    const of = (kind) =>
      store.channels.filter((channel) => channel.kind === kind).map((channel) => this.#entry(channel, current));
    morphChildren(
      this.body,
      h(
        "div",
        {},
        h(
          "header",
          { class: "workspace" },
          h("span", { class: "workspace-mark", "aria-hidden": "true" }, store.team.name.slice(0, 1)),
          h("span", { class: "workspace-name" }, store.team.name),
          iconButton("search", t("jumpTo"), { class: "icon-button push", "data-do": "switcher", "aria-keyshortcuts": "Control+K" }),
        ),
        h("h2", { class: "section-title" }, t("channels")),
        h("ul", {}, of("channel")),
        h("h2", { class: "section-title" }, t("direct")),
        h("ul", {}, of("im")),
        store.threads.length > 0 && [
          h("h2", { class: "section-title", "data-key": "threads" }, t("unreadThreads")),
          h("ul", { "data-key": "thread-list" }, store.threads.map((one) => this.#thread(one, thread))),
        ],
      ),
    );
    const saying = `${store.me.id} ${language}`;
    if (this.tip.dataset.saying !== saying) this.#drawTip();
    this.tip.dataset.saying = saying;
    this.meButton.setAttribute("aria-label", t("actingAs", store.me.name, t(store.me.role) ?? store.me.role));
    morphChildren(
      this.meButton,
      h(
        "div",
        {},
        avatar(store.me),
        h(
          "span",
          { class: "me-text" },
          h("span", { class: "me-name" }, h("b", {}, store.me.name), roleBadge(store.me.role)),
          h("small", {}, stored(store.me.title)),
        ),
        icon("down"),
      ),
    );
    if (!this.menu.hidden) this.#drawMenu();
  }

  #entry(channel, current) {
    const { store } = this;
    const active = channel.id === current;
    const { unread = 0, mentions = 0 } = channel;
    const name = store.title(channel);
    const spoken = [name, unread && t("unread", unread), mentions && t("mentionsCount", mentions)]
      .filter(Boolean)
      .join(", ");
    const presence = h("span", { class: `presence ${store.botOnline ? "on" : "off"}` });
    return h(
      "li",
      { "data-key": channel.id },
      h(
        "a",
        {
          href: `#/${channel.id}`,
          class: `channel-link${unread ? " unread" : ""}`,
          "aria-current": active ? "page" : undefined,
          "aria-label": spoken,
          "data-channel": channel.id,
        },
        channel.kind === "im"
          ? h("span", { class: "dm-face" }, avatar({ ...store.bot, is_bot: true }, "small"), presence)
          : icon("hash"),
        h("span", { class: "channel-name" }, name),
        mentions ? h("span", { class: "badge" }, String(mentions)) : null,
      ),
    );
  }

  #thread(thread, open) {
    const name = this.store.threadTitle(thread);
    const { unread, mentions } = thread;
    return h(
      "li",
      { "data-key": `${thread.channel}/${thread.thread_ts}` },
      h(
        "a",
        {
          href: `#/${thread.channel}/${thread.thread_ts}`,
          class: "channel-link unread",
          "aria-current": thread.thread_ts === open ? "page" : undefined,
          "aria-label": [name, t("unread", unread), mentions && t("mentionsCount", mentions)].filter(Boolean).join(", "),
        },
        icon("reply"),
        h("span", { class: "channel-name" }, name),
        h("span", { class: `badge${mentions ? "" : " soft"}` }, String(mentions || unread)),
      ),
    );
  }

  #drawTip() {
    const { me } = this.store;
    const done = h("button", { type: "button", class: "tip-done" }, t("gotIt"));
    done.addEventListener("click", () => {
      localStorage.setItem("tip", "seen");
      this.tip.hidden = true;
      this.meButton.focus();
    });
    this.tip.hidden = localStorage.getItem("tip") === "seen";
    this.tip.replaceChildren(h("p", {}, t("tip", me.name, me.role)), done);
  }

  #drawMenu() {
    const people = Object.entries(this.store.people).map(([key, person]) => {
      const mine = person.id === this.store.me.id;
      return h(
        "button",
        {
          type: "button",
          role: "menuitemradio",
          "aria-checked": mine ? "true" : "false",
          class: "menu-person",
          "data-person": key,
          tabindex: -1,
          "data-key": key,
        },
        avatar(person),
        h("span", { class: "me-text" }, h("b", {}, person.name), h("small", {}, stored(person.title))),
        roleBadge(person.role),
        mine ? icon("check") : h("span", { class: "icon" }),
      );
    });
    const choice = (group, value, label, on) =>
      h(
        "button",
        {
          type: "button",
          role: "menuitemradio",
          "aria-checked": on ? "true" : "false",
          class: "segment",
          [`data-${group}`]: value,
          tabindex: -1,
        },
        label,
      );
    morphChildren(
      this.menu,
      h(
        "div",
        {},
        h("p", { class: "menu-title" }, t("switchPerson")),
        people,
        h("hr"),
        h(
          "div",
          { class: "menu-row", role: "group", "aria-label": t("theme") },
          h("span", {}, t("theme")),
          h(
            "span",
            { class: "segments" },
            ["auto", "light", "dark"].map((name) => choice("theme", name, t(name), theme() === name)),
          ),
        ),
        h(
          "div",
          { class: "menu-row", role: "group", "aria-label": t("language") },
          h("span", {}, t("language")),
          h(
            "span",
            { class: "segments" },
            [
              ["en", "English"],
              ["zh", "中文"],
            ].map(([value, label]) => choice("language", value, label, language === value)),
          ),
        ),
        h("hr"),
        h(
          "button",
          { type: "button", role: "menuitem", class: "menu-person", "data-do": "keys", tabindex: -1, "data-key": "keys" },
          t("keys"),
          h("kbd", { class: "key push" }, "?"),
        ),
      ),
    );
  }

  #openMenu() {
    this.#drawMenu();
    this.menu.hidden = false;
    this.menu.setAttribute("aria-label", t("switchPerson"));
    this.meButton.setAttribute("aria-expanded", "true");
    this.menu.querySelector("[aria-checked=true]").focus();
  }

  #closeMenu(refocus = true) {
    this.menu.hidden = true;
    this.meButton.setAttribute("aria-expanded", "false");
    if (refocus) this.meButton.focus();
  }

  #menuKey(event) {
    const items = [...this.menu.querySelectorAll("button")];
    const at = items.indexOf(document.activeElement);
    const target = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1 }[
      event.key
    ];
    if (event.key === "Escape" || event.key === "Tab") this.#closeMenu();
    else if (target !== undefined) items.at(target % items.length).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #chosen(event) {
    const { person, theme: name, language: next, do: other } = event.target.closest("button")?.dataset ?? {};
    if (other) this.#closeMenu();
    if (person) {
      this.#closeMenu();
      this.needs.switchTo(person);
    }
    if (name) setTheme(name);
    if (next) this.needs.setLanguage(next);
    if (name || next) this.#drawMenu();
  }
}
