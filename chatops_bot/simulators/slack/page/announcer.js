// Reads new messages of the open conversation out to screen readers: each once, when it has stopped changing, so that an
// answer that grows is one announcement and not fifty.

import { t } from "./words.js";

const SETTLED_MS = 1200;
const LONGEST = 400;

export class Announcer {
  #waiting = new Map();

  /** `region`: a polite live region. `textOf(ts)`: what stands in the message now. */
  constructor(region, textOf) {
    this.region = region;
    this.textOf = textOf;
  }

  arrived(ts, author) {
    this.#waiting.set(ts, { author });
    this.changed(ts);
  }

  changed(ts) {
    const waiting = this.#waiting.get(ts);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    waiting.timer = setTimeout(() => this.#say(ts, waiting.author), SETTLED_MS);
  }

  clear() {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #say(ts, author) {
    this.#waiting.delete(ts);
    const text = this.textOf(ts);
    if (text) this.region.textContent = t("says", author, text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  }
}
