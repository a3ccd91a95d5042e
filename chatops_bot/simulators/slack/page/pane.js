// A column of messages with a header and a composer: the channel, and the thread beside it.
//
// Rows are kept by key and morphed, and only those whose message changed. The place that people read stays put:
// at the bottom the list follows; anywhere else the first visible row keeps its distance to the top.

import { beginning } from "./beginning.js";
import { settleControls } from "./controls.js";
import { h, icon, iconButton, morph, morphChildren } from "./dom.js";
import { dateOf, dayLabel, sameDay } from "./format.js";
import { renderMessage, status } from "./message.js";
import { threadKey } from "./store.js";
import { stored, t } from "./words.js";

const GROUP_SECONDS = 300;
const NEAR_BOTTOM = 40; // pixels; less than a line and a half away still counts as reading the end

export class Pane {
  /** `needs`: { load(pane): older messages, retry(pane), seen(pane) } */
  constructor(root, store, composer, needs) {
    this.root = root;
    this.store = store;
    this.composer = composer;
    this.needs = needs;
    this.rows = new Map();
    this.following = true;
    this.newCount = 0;
    this.header = h("header", { class: "pane-header" });
    this.list = h("div", { class: "list", role: "log", "aria-live": "off" });
    this.scroller = h("div", { class: "scroller", tabindex: -1 }, h("div", { class: "spring" }), this.list);
    this.pill = h("button", { type: "button", class: "pill", hidden: true });
    this.status = h("div", { class: "status-line", "aria-live": "polite" });
    root.replaceChildren(
      this.header,
      h("div", { class: "scroll-frame" }, this.scroller, this.pill),
      this.status,
      composer.root,
    );
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.pill.addEventListener("click", () => this.toBottom());
    new ResizeObserver(() => this.following && this.#jump()).observe(this.list);
    new ResizeObserver(() => this.following && this.#jump()).observe(this.scroller);
  }

  get key() {
    return this.thread ? threadKey(this.channel, this.thread) : this.channel;
  }

  /** Shows a channel, or a thread of it; null empties the pane. */
  show(channel, thread) {
    if (this.channel === channel && this.thread === thread) return;
    this.channel = channel;
    this.thread = thread;
    this.rows.clear();
    this.list.replaceChildren();
    this.following = true;
    this.newCount = 0;
    this.#drawPill();
    if (channel) this.composer.open(this.key);
  }

  /** Everything again in another language. */
  relabel() {
    this.rows.clear();
    this.list.replaceChildren();
    this.composer.relabel();
    this.#drawPill();
  }

  toBottom() {
    this.following = true;
    this.newCount = 0;
    this.#jump();
    this.#drawPill();
    this.needs.seen(this);
  }

  /** To the line above what is new, where more is new than fits: a card is read from its head. */
  toUnread() {
    const line = this.list.querySelector(".divider-row.unread");
    if (!line) return;
    const top = line.getBoundingClientRect().top;
    if (this.list.getBoundingClientRect().bottom - top <= this.scroller.clientHeight) return;
    this.following = false;
    this.scroller.scrollTop += top - this.scroller.getBoundingClientRect().top;
    this.#drawPill();
  }

  /** Tells the pane that a message from somebody else arrived in what it shows. */
  arrived() {
    if (this.following) return;
    this.newCount += 1;
    this.#drawPill();
  }

  #jump() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const atBottom = scrollHeight - scrollTop - clientHeight < NEAR_BOTTOM;
    const changed = atBottom !== this.following;
    this.following = atBottom;
    if (changed && atBottom) {
      this.newCount = 0;
      this.needs.seen(this);
    }
    if (changed) this.#drawPill();
    this.scroller.classList.toggle("moving", !atBottom);
    clearTimeout(this.stillness);
    this.stillness = setTimeout(() => this.scroller.classList.remove("moving"), 1200);
    if (scrollTop < 200 && this.store.list(this.key).hasMore) this.needs.load(this);
  }

  /** While the end is out of sight, a way back to it; it says when something new arrived there. */
  #drawPill() {
    this.pill.hidden = this.following;
    this.pill.classList.toggle("news", this.newCount > 0);
    const text = this.newCount ? t("newMessages", this.newCount) : t("toNewest");
    this.pill.replaceChildren(h("span", {}, text), icon("down"));
  }

  /** Moves the focus from a message to the one above (-1) or below (1); below the last stands the composer. */
  step(from, by) {
    const rows = [...this.list.querySelectorAll(".message")];
    const at = rows.indexOf(from);
    const next = at >= 0 ? rows[at + by] : by < 0 ? rows.at(-1) : undefined;
    if (next) {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
    } else if (by > 0) this.composer.focus();
  }

  render() {
    if (!this.channel) return;
    const channel = this.store.channel(this.channel);
    if (!channel) return;
    const name = this.store.title(channel);
    const label = this.thread ? t("thread") : name;
    for (const part of [this.root, this.list]) if (part.ariaLabel !== label) part.ariaLabel = label;
    morphChildren(
      this.header,
      h("header", {}, this.thread ? this.#threadHeader(channel, name) : this.#channelHeader(channel, name)),
    );
    this.composer.describe(this.thread ? t("reply") : t("messageTo", channel.kind === "im" ? name : `#${name}`));
    this.composer.offerBot(!this.thread && channel.kind === "channel" && Boolean(this.store.bot));
    const anchor = this.following ? null : this.#anchor();
    this.#place(this.#wanted(channel, name));
    this.#drawStatus();
    if (this.following) this.#jump();
    else if (anchor) this.scroller.scrollTop += anchor.row.getBoundingClientRect().top - anchor.top;
  }

  #anchor() {
    const top = this.scroller.getBoundingClientRect().top;
    for (const row of this.list.children) {
      const box = row.getBoundingClientRect();
      if (box.bottom > top && row.matches(".message")) return { row, top: box.top };
    }
    return null;
  }

  #channelHeader(channel, name) {
    const direct = channel.kind === "im";
    return [
      iconButton("back", t("backToChannels"), { class: "icon-button phone-only", "data-do": "to-channels" }),
      h("h1", { class: "pane-title" }, direct ? this.#presence() : icon("hash"), name),
      direct
        ? h("span", { class: "topic" }, this.store.botOnline ? t("online") : t("offline"))
        : channel.topic && h("span", { class: "topic", title: stored(channel.topic) }, stored(channel.topic)),
    ];
  }

  #presence() {
    const online = this.store.botOnline;
    return h("span", {
      class: `presence ${online ? "on" : "off"}`,
      role: "img",
      "aria-label": online ? t("online") : t("offline"),
    });
  }

  #threadHeader(channel, name) {
    return [
      iconButton("back", t("backToChannel"), { class: "icon-button phone-only", "data-do": "close-thread" }),
      h("h2", { class: "pane-title" }, t("thread")),
      h("span", { class: "topic" }, channel.kind === "im" ? name : `# ${name}`),
      iconButton("close", t("closeThread"), { class: "icon-button wide-only push", "data-do": "close-thread" }),
    ];
  }

  /** The rows that should stand, in order, as { key, deps, draw }. Rows with equal `deps` are left alone. */
  #wanted(channel, name) {
    const { store } = this;
    const { messages, hasMore, loaded, failed } = store.list(this.key);
    if (failed) return [row("failed", [], () => this.#failed())];
    if (!loaded) return [row("loading", [], () => h("p", { class: "quiet" }, t("loading")))];
    const rows = messages.flatMap((message, index) => this.#rowsOf(message, messages[index - 1], messages.length));
    if (hasMore) rows.unshift(row("older", [], () => h("p", { class: "quiet" }, t("loading"))));
    else if (!this.thread) rows.unshift(row("beginning", [name, store.bot?.name], () => beginning(channel, name, store)));
    if (this.thread && messages.length === 1)
      rows.push(row("no-replies", [], () => h("p", { class: "quiet" }, t("noReplies"))));
    return rows;
  }

  /** A message and the dividers that stand above it. */
  #rowsOf(message, before, count) {
    const { store, channel } = this;
    const inThread = Boolean(this.thread);
    const dividers = [];
    const day = dayLabel(message.ts);
    const newDay = !before || !sameDay(before.ts, message.ts);
    if (newDay && !inThread)
      dividers.push(row(`day-${dateOf(message.ts).toDateString()}`, [day], () => divider(day, "day")));
    if (inThread && before?.ts === this.thread)
      dividers.push(row("replies", [count], () => divider(t("replies", count - 1), "replies")));
    if (message.ts === store.unreadFrom.get(this.key))
      dividers.push(row("unread", [], () => divider(t("newLine"), "unread")));
    const grouped = dividers.length === 0 && !newDay && follows(message, before);
    const deps = [message, grouped, store.statuses.get(threadKey(channel, message.ts)), this.#controlsOf(message)];
    return [...dividers, row(message.ts, deps, () => renderMessage(message, store, { channel, inThread, grouped }))];
  }

  #controlsOf({ ts }) {
    const { controls, choices } = this.store;
    const own = [...controls, ...choices].filter(([key]) => key.startsWith(`${ts}/`));
    return own.length ? JSON.stringify(own) : "";
  }

  #place(wanted) {
    const stay = new Set(wanted.map(({ key }) => key));
    for (const [key, { element }] of this.rows) {
      if (stay.has(key)) continue;
      element.remove();
      this.rows.delete(key);
    }
    let cursor = this.list.firstElementChild;
    for (const { key, deps, draw } of wanted) {
      const known = this.rows.get(key);
      const element = known?.element ?? draw();
      const changed = known?.deps.some((dep, index) => dep !== deps[index]);
      if (changed) morph(element, draw());
      if (changed || !known) settleControls(element);
      this.rows.set(key, { element, deps });
      if (element === cursor) cursor = cursor.nextElementSibling;
      else this.list.insertBefore(element, cursor);
    }
  }

  #failed() {
    const again = h("button", { type: "button", class: "button default" }, t("retry"));
    again.addEventListener("click", () => this.needs.retry(this));
    return h("div", { class: "quiet" }, h("p", {}, t("loadFailed")), again);
  }

  #drawStatus() {
    const text = this.store.statuses.get(this.key);
    const offline = !this.store.botOnline && this.store.channel(this.channel)?.kind === "im";
    const note = offline && !this.thread ? h("p", { class: "status" }, t("offlineHint", this.store.bot?.name)) : null;
    morphChildren(this.status, h("div", {}, this.thread ? status(text, this.store) : null, note));
  }
}

const row = (key, deps, draw) => ({ key, deps, draw });

const divider = (label, kind) =>
  h(
    "div",
    { class: `divider-row ${kind}`, role: "separator", "aria-label": label },
    h("i", { class: "line" }),
    h("span", {}, label),
  );

function follows(message, before) {
  return (
    before &&
    !before.ephemeral &&
    !stands(message) &&
    !stands(before) &&
    (message.user ?? message.bot_id) === (before.user ?? before.bot_id) &&
    message.username === before.username &&
    Number(message.ts) - Number(before.ts) < GROUP_SECONDS
  );
}

/** A card, a form or an answer stands for itself, under its author's name. */
function stands({ blocks = [], attachments = [] }) {
  return attachments.length > 0 || blocks.some(({ type }) => type !== "rich_text" && type !== "section");
}
