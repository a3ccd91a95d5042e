// Where people write: Enter sends, Shift+Enter breaks the line, `@` offers people. Drafts are kept per conversation.

import { h, icon, iconButton, morphChildren } from "./dom.js";
import { avatar, appBadge, roleBadge } from "./people.js";
import { stored, t } from "./words.js";

let count = 0;

export class Composer {
  /** `send(text)` returns a promise; when it fails the text is put back. */
  constructor(store, send) {
    this.store = store;
    this.send = send;
    const id = `completion-${(count += 1)}`;
    this.menu = h("div", { class: "completion", id, role: "listbox", hidden: true });
    this.field = h("textarea", {
      rows: 1,
      class: "composer-field",
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": id,
      "aria-autocomplete": "list",
      spellcheck: "true",
    });
    this.error = h("p", { class: "composer-error", role: "alert", hidden: true });
    this.sendButton = iconButton("send", t("send"), { class: "icon-button send", disabled: true });
    this.bar = h("div", { class: "composer-bar" });
    this.root = h(
      "div",
      { class: "composer" },
      this.menu,
      h("div", { class: "composer-box" }, this.field, this.bar),
      this.error,
    );
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("input", () => this.#input());
    this.field.addEventListener("click", () => this.#complete());
    this.field.addEventListener("blur", () => this.#closeMenu());
    this.sendButton.addEventListener("click", () => this.#submit());
    this.askButton = h("button", { type: "button", class: "composer-ask", hidden: true });
    this.askButton.addEventListener("click", () => this.suggest(`@${this.store.bot.name} `));
    this.menu.addEventListener("pointerdown", (event) => event.preventDefault());
    this.menu.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#choose(Number(option.dataset.index));
    });
    this.#drawBar();
  }

  #drawBar() {
    const mention = iconButton("at", t("mention"));
    mention.addEventListener("click", () => this.#insert(/(^|\s)$/.test(this.#before()) ? "@" : " @"));
    const code = iconButton("code", t("codeButton"));
    code.addEventListener("click", () => this.#wrap());
    this.sendButton.title = t("send");
    this.sendButton.setAttribute("aria-label", t("send"));
    this.bar.replaceChildren(
      mention,
      code,
      this.askButton,
      h(
        "span",
        { class: "composer-hint" },
        h("kbd", {}, "Shift"),
        " + ",
        h("kbd", {}, "Enter"),
        ` ${t("newLineHint")}`,
      ),
      this.sendButton,
    );
  }

  relabel() {
    this.#drawBar();
  }

  open(key) {
    this.key = key;
    this.field.value = this.store.drafts.get(key) ?? "";
    this.error.hidden = true;
    this.#closeMenu();
    this.#resize();
  }

  describe(label) {
    if (this.field.placeholder === label) return;
    this.field.placeholder = label;
    this.field.setAttribute("aria-label", label);
  }

  /** Whether the bot is asked by naming it here: then a button beside the empty field says so. */
  offerBot(offered) {
    this.askButton.hidden = !offered;
    if (offered) this.askButton.textContent = t("askBot", this.store.bot.name);
  }

  /** Puts a text into the field, to be read and sent by the person. */
  suggest(text) {
    this.field.value = text;
    this.#input();
    this.focus();
    this.field.setSelectionRange(text.length, text.length);
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  #before() {
    return this.field.value.slice(0, this.field.selectionStart);
  }

  #insert(text) {
    this.focus();
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.#input();
  }

  #wrap() {
    const { selectionStart: from, selectionEnd: to, value } = this.field;
    const chosen = value.slice(from, to);
    const mark = chosen.includes("\n") ? "```" : "`";
    this.focus();
    this.field.setRangeText(mark + chosen + mark, from, to, "end");
    if (from === to) this.field.setSelectionRange(from + 1, from + 1);
    this.#input();
  }

  #input() {
    this.store.drafts.set(this.key, this.field.value);
    this.#resize();
    this.#complete();
  }

  #resize() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, 240)}px`;
    this.sendButton.disabled = this.field.value.trim() === "";
  }

  #key(event) {
    // While an input method composes (Chinese, Japanese), Enter and arrows belong to it. 229 is how Safari says so.
    if (event.isComposing || event.keyCode === 229) return;
    const open = !this.menu.hidden;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (open && steps[event.key]) this.#move(steps[event.key]);
    else if (open && (event.key === "Enter" || event.key === "Tab")) this.#choose(this.index);
    else if (open && event.key === "Escape") this.#closeMenu();
    else if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.altKey) this.#submit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async #submit() {
    const typed = this.field.value;
    if (!typed.trim()) return;
    const key = this.key;
    this.#set(key, "");
    this.#closeMenu();
    this.error.hidden = true;
    try {
      await this.send(withMentions(typed.trim(), mentionable(this.store)));
    } catch {
      // What was typed meanwhile stands after what failed.
      const since = this.store.drafts.get(key);
      this.#set(key, since ? `${typed}\n${since}` : typed);
      this.error.textContent = t("notSent");
      this.error.hidden = false;
    }
  }

  #set(key, text) {
    this.store.drafts.set(key, text);
    if (key !== this.key) return;
    this.field.value = text;
    this.#resize();
  }

  #complete() {
    const found = this.#before().match(/(?:^|[^\w@])@([^\s@]{0,30})$/);
    const matches = found ? candidates(this.store, found[1]) : [];
    if (!matches.length) return this.#closeMenu();
    this.query = found[1];
    this.matches = matches;
    this.index = 0;
    this.menu.hidden = false;
    this.menu.setAttribute("aria-label", t("people"));
    this.#drawMenu();
    this.field.setAttribute("aria-expanded", "true");
  }

  #drawMenu() {
    const options = this.matches.map((person, index) =>
      h(
        "div",
        {
          role: "option",
          id: `${this.menu.id}-${index}`,
          class: "completion-option",
          "data-index": index,
          "aria-selected": index === this.index ? "true" : "false",
        },
        avatar(person, "small"),
        h("b", {}, person.name),
        person.is_bot ? appBadge() : h("span", { class: "hint" }, stored(person.title)),
        person.role && roleBadge(person.role),
      ),
    );
    morphChildren(this.menu, h("div", {}, options));
    this.field.setAttribute("aria-activedescendant", `${this.menu.id}-${this.index}`);
  }

  #move(step) {
    this.index = (this.index + step + this.matches.length) % this.matches.length;
    this.#drawMenu();
  }

  #choose(index) {
    const end = this.field.selectionStart;
    this.field.setRangeText(`@${this.matches[index].name} `, end - this.query.length - 1, end, "end");
    this.#closeMenu();
    this.focus();
    this.#input();
  }

  #closeMenu() {
    this.menu.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
  }
}

/** Everyone who can be mentioned, the bot first: { id, name, handle?, color, is_bot?, role?, title? }. */
export function mentionable(store) {
  const people = Object.entries(store.people).map(([key, person]) => ({ ...person, handle: key }));
  return store.bot ? [{ ...store.bot, is_bot: true }, ...people] : people;
}

function candidates(store, query) {
  const wanted = query.toLowerCase();
  const begins = ({ name, handle = "" }) =>
    [name, handle, ...name.split(/\s+/)].some((word) => word.toLowerCase().startsWith(wanted));
  return mentionable(store)
    .filter((person) => person.id !== store.me?.id || wanted)
    .filter((person) => begins(person) || (wanted && person.name.toLowerCase().includes(wanted)))
    .slice(0, 8);
}

const CODE = /(```[\s\S]*?```|`[^`\n]+`)/;
const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `@Name` and `@handle` outside code become `<@ID>`; the workspace escapes the rest. */
export function withMentions(text, people) {
  const ids = new Map();
  for (const { id, name, handle } of people)
    for (const word of [name, handle]) if (word) ids.set(word.toLowerCase(), id);
  const longestFirst = [...ids.keys()].sort((a, b) => b.length - a.length).map(literally);
  if (!longestFirst.length) return text;
  const mention = new RegExp(`(?<![\\w@/.])@(${longestFirst.join("|")})(?![\\w-])`, "giu");
  return text
    .split(CODE)
    .map((part, index) => (index % 2 ? part : part.replace(mention, (_, name) => `<@${ids.get(name.toLowerCase())}>`)))
    .join("");
}
