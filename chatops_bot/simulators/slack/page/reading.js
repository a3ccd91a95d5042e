// What the reader has seen: the read marks of channels and threads, and the line above what was new when they came.

const newestOf = (messages) =>
  messages.filter(({ ephemeral }) => !ephemeral).reduce((newest, { ts }) => (Number(ts) > Number(newest) ? ts : newest), "0");

export const looking = () => document.visibilityState === "visible";

export class Reading {
  #sent = new Map();
  #timer;

  /** `workspace()`: whose marks they are. */
  constructor(store, workspace) {
    this.store = store;
    this.workspace = workspace;
  }

  clear() {
    this.#sent.clear();
    clearTimeout(this.#timer);
  }

  /** How much of what a pane shows is unread, before it is loaded and read. */
  unreadIn({ channel, thread }) {
    const known = thread ? this.store.thread(channel, thread) : this.store.channel(channel);
    return known?.unread ?? 0;
  }

  /** Draws the line above the first of the `unread` messages of others. */
  drawLine({ key, thread }, unread) {
    const { me } = this.store;
    const others = this.store
      .list(key)
      .messages.filter(({ ts, user, ephemeral }) => user !== me.id && !ephemeral && ts !== thread);
    this.store.unreadFrom.delete(key);
    if (unread && others.length) this.store.unreadFrom.set(key, others.at(-Math.min(unread, others.length)).ts);
    this.store.changed();
  }

  /** The pane shows its newest message to somebody who looks: it is read. */
  async seen(pane) {
    const { key, channel, thread } = pane;
    if (!channel || !pane.following || !looking()) return;
    const newest = newestOf(this.store.list(key).messages);
    if (newest === "0" || (Number(this.#sent.get(key) ?? 0) >= Number(newest) && !this.unreadIn(pane))) return;
    this.#sent.set(key, newest);
    this.store.markRead(channel, thread);
    await this.workspace()
      .read(channel, newest, thread)
      .catch(() => this.#sent.delete(key));
  }

  /** Threads are counted by the workspace, which knows who wrote in them; a burst of replies asks once. */
  countThreads() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      const asked = this.workspace();
      const state = await asked.state().catch(() => null);
      if (state && asked === this.workspace()) this.store.setThreads(state.threads);
    }, 150);
  }
}
