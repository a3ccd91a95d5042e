// What the page knows: people, channels, messages by channel and thread, and the state of controls in use.
// Live events fold into it; whoever draws subscribes to `onChange`, which is called once per burst of changes.

import { Drafts } from "./drafts.js";
import { t } from "./words.js";

export const threadKey = (channel, thread) => `${channel}/${thread}`;
const byTs = (a, b) => Number(a.ts) - Number(b.ts);
export const isReply = (message) =>
  message.thread_ts && message.thread_ts !== message.ts && message.subtype !== "thread_broadcast";

export class Store {
  #scheduled = false;

  constructor(onChange) {
    this.onChange = onChange;
    this.drafts = new Drafts();
    this.clear();
  }

  clear() {
    this.team = { name: "" };
    this.me = null;
    this.people = {};
    this.users = {};
    this.channels = [];
    this.bot = null;
    this.botOnline = true;
    this.connected = true;
    /** channel id or `channel/thread` → { messages, hasMore, loaded, failed, touched }; `touched`: a live event concerned it */
    this.lists = new Map();
    /** `channel/thread` → what the bot says it is doing */
    this.statuses = new Map();
    /** `ts/block/action` → { pending } or { error }: a control that was used and not yet answered */
    this.controls = new Map();
    /** `ts/block/action` → the values that the reader chose in a select, also before they are sent */
    this.choices = new Map();
    /** `[{ channel, thread_ts, html, unread, mentions }]`: threads with replies that the reader has not seen */
    this.threads = [];
    /** key of a list → ts of the first message that was unread when it was opened */
    this.unreadFrom = new Map();
  }

  changed() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.onChange();
    });
  }

  setState(state) {
    this.team = state.team;
    this.people = state.people;
    this.users = state.users;
    this.channels = state.channels;
    this.bot = { id: state.bot_user_id, ...state.users[state.bot_user_id] };
    this.botOnline = state.bot_online;
    this.threads = state.threads ?? [];
    this.me = { key: state.me, ...this.people[state.me] };
    if (this.drafts.person !== state.me) this.drafts.open(state.me);
    this.changed();
  }

  channel(id) {
    return this.channels.find((channel) => channel.id === id);
  }

  thread(channel, thread_ts) {
    return this.threads.find((thread) => thread.channel === channel && thread.thread_ts === thread_ts);
  }

  setThreads(threads) {
    this.threads = threads;
    this.changed();
  }

  /** The first line of a thread's root, without markup and without the names that it calls; of one without text, its first heading. */
  threadTitle({ html = "", heading = "" }) {
    const template = document.createElement("template");
    template.innerHTML = html.split(/<(?:br|blockquote|pre)\b/).find(Boolean) ?? "";
    const said = template.content.textContent.replace(/^(@\S+\s+)+/, "").trim();
    return (said || heading || t("thread")).slice(0, 80);
  }

  /** What waits for the reader: mentions in channels, direct messages, and threads. */
  waiting() {
    return this.channels.reduce((sum, { mentions = 0 }) => sum + mentions, this.threads.length);
  }

  title(channel) {
    return channel.kind === "im" ? (this.bot?.name ?? channel.name) : channel.name;
  }

  user(message) {
    const id = message.user ?? (message.bot_id ? this.bot?.id : undefined);
    const known = this.users[id] ?? {};
    return {
      id,
      name: message.username ?? known.name ?? id ?? "unknown",
      color: known.color,
      isBot: known.is_bot ?? Boolean(message.bot_id),
    };
  }

  list(key) {
    if (!this.lists.has(key))
      this.lists.set(key, { messages: [], hasMore: false, loaded: false, failed: false, touched: false });
    return this.lists.get(key);
  }

  find(ts) {
    for (const { messages } of this.lists.values()) {
      const found = messages.find((message) => message.ts === ts);
      if (found) return found;
    }
    return undefined;
  }

  fill(key, { messages, has_more }, { older = false } = {}) {
    const list = this.list(key);
    const kept = older ? list.messages : list.messages.filter((message) => message.ephemeral);
    list.messages = merged(kept, messages);
    list.hasMore = Boolean(has_more);
    list.loaded = true;
    list.failed = false;
    this.changed();
  }

  setControl(key, state) {
    if (state) this.controls.set(key, state);
    else this.controls.delete(key);
    this.changed();
  }

  choose(key, values) {
    this.choices.set(key, values);
    this.changed();
  }

  /** Folds one live event in. Answers the message when one was added, so that the page can announce it. */
  apply(event) {
    const handler = this[`_${event.type}`];
    const added = handler?.call(this, event);
    this.changed();
    return added;
  }

  _message({ channel, message }) {
    const root = isReply(message) ? message.thread_ts : undefined;
    const isNew = !this.#known(channel, message);
    const list = this.#touched(root ? threadKey(channel, root) : channel);
    if (list?.loaded) list.messages = merged(list.messages, [message]);
    if (root && message.user === this.bot?.id) this.statuses.delete(threadKey(channel, root));
    return isNew ? message : undefined;
  }

  _ephemeral(event) {
    return this._message({ ...event, message: { ...event.message, ephemeral: true } });
  }

  _changed({ channel, message }) {
    for (const key of [channel, threadKey(channel, message.thread_ts ?? message.ts)]) {
      const list = this.#touched(key);
      const index = list?.messages.findIndex((known) => known.ts === message.ts) ?? -1;
      if (index >= 0) list.messages = list.messages.with(index, message);
    }
    for (const key of this.controls.keys()) if (key.startsWith(`${message.ts}/`)) this.controls.delete(key);
  }

  _deleted({ ts }) {
    for (const list of this.lists.values()) {
      list.touched = true;
      list.messages = list.messages.filter((message) => message.ts !== ts);
    }
  }

  _ephemeral_removed(event) {
    this._deleted(event);
  }

  _reaction({ channel, message }) {
    if (message) this._changed({ channel, message });
  }

  _status({ channel, thread_ts, status }) {
    if (status) this.statuses.set(threadKey(channel, thread_ts), status);
    else this.statuses.delete(threadKey(channel, thread_ts));
  }

  _presence({ bot_online }) {
    this.botOnline = bot_online;
  }

  _read({ channel, thread_ts }) {
    this.markRead(channel, thread_ts);
  }

  markRead(channel, thread_ts) {
    const known = this.channel(channel);
    if (thread_ts) this.threads = this.threads.filter((thread) => thread !== this.thread(channel, thread_ts));
    else if (known) Object.assign(known, { unread: 0, mentions: 0 });
    this.changed();
  }

  #touched(key) {
    const list = this.lists.get(key);
    if (list) list.touched = true;
    return list;
  }

  #known(channel, message) {
    const keys = [channel, threadKey(channel, message.thread_ts ?? message.ts)];
    return keys.some((key) => this.lists.get(key)?.messages.some((known) => known.ts === message.ts));
  }

  /** A new message in the channel itself, which its reader does not see now. */
  countUnread(channel, { text = "" }) {
    const known = this.channel(channel);
    known.unread = (known.unread ?? 0) + 1;
    const forMe = known.kind === "im" || text.includes(`<@${this.me.id}>`) || /<!(here|channel|everyone)/.test(text);
    if (forMe) known.mentions = (known.mentions ?? 0) + 1;
    this.changed();
  }
}

function merged(known, incoming) {
  const messages = new Map(known.map((message) => [message.ts, message]));
  for (const message of incoming) messages.set(message.ts, message);
  return [...messages.values()].sort(byTs);
}
