// Fetching the messages of a pane: its newest, and older ones as the reader nears them.

export class Loading {
  #older = new Set();

  constructor(store, workspace) {
    this.store = store;
    this.workspace = workspace;
  }

  async newest({ key, channel, thread }) {
    const asked = this.workspace();
    const list = this.store.list(key);
    list.loading = true;
    try {
      // What changes while the answer is on its way may be missing in it, so then it is asked for again.
      for (let tries = 0; tries === 0 || (list.touched && tries < 5); tries += 1) {
        list.touched = false;
        const answer = await asked.messages(channel, { thread_ts: thread });
        if (asked !== this.workspace()) return;
        this.store.fill(key, answer);
      }
    } catch {
      if (asked !== this.workspace() || list.loaded) return;
      list.failed = true;
      this.store.changed();
    } finally {
      list.loading = false;
    }
  }

  async older({ key, channel, thread }) {
    if (this.#older.has(key)) return;
    this.#older.add(key);
    const asked = this.workspace();
    const oldest = this.store.list(key).messages.find((message) => message.ts !== thread);
    try {
      const answer = await asked.messages(channel, { thread_ts: thread, before: oldest?.ts });
      if (asked === this.workspace()) this.store.fill(key, answer, { older: true });
    } catch {
      // The next scroll asks again; the banner already says that the workspace is away.
    } finally {
      this.#older.delete(key);
    }
  }
}
