// The workspace's HTTP interface and its live stream, for one person.

/** `message` is the error code; `body` is the whole answer, whose `message` is a sentence for people. */
export class Failed extends Error {
  constructor(code, { body, cause } = {}) {
    super(code, { cause });
    this.body = body;
    this.sentence = body?.message;
  }
}

async function call(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", ...options });
  } catch (cause) {
    throw new Failed("unreachable", { cause });
  }
  const body = await response.json().catch(() => null);
  if (!response.ok || body?.ok === false) throw new Failed(body?.error ?? `HTTP ${response.status}`, { body });
  return body;
}

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined));

export class Workspace {
  constructor(person) {
    this.person = person;
  }

  state() {
    return call(`/sim/state?${query({ person: this.person })}`);
  }

  /** Oldest first; without `thread_ts` only roots, with it the root and its replies. */
  messages(channel, { thread_ts, before, limit = 60 } = {}) {
    return call(`/sim/messages?${query({ person: this.person, channel, thread_ts, before, limit })}`);
  }

  #post(path, body) {
    return call(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ person: this.person, ...body }),
    });
  }

  post(channel, thread_ts, text) {
    return this.#post("/sim/post", { channel, thread_ts, text });
  }

  read(channel, ts, thread_ts) {
    return this.#post("/sim/read", { channel, ts, thread_ts });
  }

  click(body) {
    return this.#post("/sim/click", body);
  }

  submit(body) {
    return this.#post("/sim/submit", body);
  }

  closeView(view_id) {
    return this.#post("/sim/close_view", { view_id });
  }

  /**
   * Follows the live stream until `close()` of the answer is called, over any number of broken connections.
   * `onOpen()`: connected, and earlier events may have been missed; `onLost()`: not connected at present.
   */
  live({ onEvent, onOpen, onLost }) {
    let socket;
    let timer;
    let attempt = 0;
    let closed = false;
    const connect = () => {
      const scheme = location.protocol === "https:" ? "wss" : "ws";
      socket = new WebSocket(`${scheme}://${location.host}/sim/live?${query({ person: this.person })}`);
      socket.onopen = () => {
        attempt = 0;
        onOpen();
      };
      socket.onmessage = ({ data }) => onEvent(JSON.parse(data));
      socket.onclose = () => {
        if (closed) return;
        onLost();
        // 0.3 s doubling to 5 s, with jitter so that many windows do not return in step.
        const wait = Math.min(5000, 300 * 2 ** attempt++) * (0.75 + Math.random() / 2);
        timer = setTimeout(connect, wait);
      };
    };
    const hurry = () => {
      if (socket.readyState === WebSocket.CLOSED && !closed) {
        clearTimeout(timer);
        connect();
      }
    };
    connect();
    addEventListener("online", hurry);
    return {
      hurry,
      close() {
        closed = true;
        clearTimeout(timer);
        removeEventListener("online", hurry);
        socket.close();
      },
    };
  }
}
