// The page: one person's window into the workspace. The address holds who (`?person=`) and where (`#/channel/thread`),
// so that two windows can be two people and Back works as it should.

import { Announcer } from "./announcer.js";
import { Workspace } from "./api.js";
import { copy } from "./clipboard.js";
import { Composer } from "./composer.js";
import { h } from "./dom.js";
import { explain, listen } from "./interactions.js";
import { listenKeys, showKeys } from "./keys.js";
import { Loading } from "./loading.js";
import { ViewDialog } from "./modal.js";
import { Pane } from "./pane.js";
import { Reading, looking } from "./reading.js";
import { Sidebar } from "./sidebar.js";
import { Store, isReply, threadKey } from "./store.js";
import { Switcher } from "./switcher.js";
import { setLanguage, t } from "./words.js";

// Who a window without `?person=` belongs to: the on-call engineer of the demo workspace.
const DEFAULT_PERSON = "oscar";

const $ = (id) => document.getElementById(id);
const phone = matchMedia("(max-width: 700px)");

const store = new Store(render);
let workspace;
let live;
let place = { channel: undefined, thread: undefined };

const reading = new Reading(store, () => workspace);
const loading = new Loading(store, () => workspace);
const channelPane = makePane($("channel"));
const threadPane = makePane($("thread"));
const panes = [threadPane, channelPane];
const sidebar = new Sidebar($("sidebar"), store, { switchTo, setLanguage: changeLanguage });
const switcher = new Switcher(store, { go, switchTo });
const viewDialog = new ViewDialog(store, { submit: submitView, close: closeView });
const announcer = new Announcer($("announcer"), (ts) => rowOf(ts)?.querySelector(".message-body").innerText.trim());

function makePane(root) {
  const composer = new Composer(store, async (text) => {
    const { channel, thread } = pane;
    pane.following = true;
    await workspace.post(channel, thread, text);
  });
  const pane = new Pane(root, store, composer, {
    load: (one) => loading.older(one),
    retry: (one) => loading.newest(one),
    seen: (one) => reading.seen(one),
  });
  return pane;
}

const rowOf = (ts) => panes.map(({ rows }) => rows.get(ts)?.element).find(Boolean);

// --- who ----------------------------------------------------------------------------------------------------

const personInAddress = () => new URLSearchParams(location.search).get("person") ?? DEFAULT_PERSON;

async function openAs(person) {
  live?.close();
  store.clear();
  reading.clear();
  announcer.clear();
  channelPane.show(undefined);
  threadPane.show(undefined);
  viewDialog.show(null);
  const mine = new Workspace(person);
  workspace = mine;
  try {
    await refreshState();
  } catch (failure) {
    if (mine !== workspace) return undefined;
    if (failure.message === "person_not_found" && person !== DEFAULT_PERSON) return openAs(DEFAULT_PERSON);
    banner(t("noPerson"));
    setTimeout(() => openAs(person), 1500);
    return undefined;
  }
  if (mine !== workspace) return undefined; // somebody else was chosen meanwhile
  live = mine.live({
    onEvent: (event) => mine === workspace && onEvent(event),
    onOpen: () => {
      store.connected = true;
      banner(null);
      refetch().then(() => (document.documentElement.dataset.live = "on"));
    },
    onLost: () => {
      store.connected = false;
      delete document.documentElement.dataset.live;
      banner(t("lost"), () => live.hurry());
    },
  });
  return route();
}

async function refreshState() {
  const asked = workspace;
  const state = await asked.state();
  if (asked !== workspace) return;
  store.setState(state);
  for (const status of state.statuses ?? []) store.apply({ ...status, type: "status" });
  viewDialog.show(state.view ?? null);
}

/** Whenever the live stream begins, for what happened before it did: everything on the screen again, and what was loaded elsewhere is forgotten. */
async function refetch() {
  const shown = new Set([channelPane.key, threadPane.channel && threadPane.key]);
  for (const key of [...store.lists.keys()]) if (!shown.has(key)) store.lists.delete(key);
  store.statuses.clear();
  await Promise.allSettled([refreshState(), ...panes.map((pane) => pane.channel && loading.newest(pane))]);
  // The counts may be from before what was read meanwhile.
  for (const pane of panes) reading.seen(pane);
}

function switchTo(person) {
  if (person === store.me.key) return;
  // A direct conversation is one person's own; the next person starts in theirs.
  const direct = store.channel(place.channel)?.kind === "im";
  const hash = direct || !place.channel ? "" : location.hash;
  history.pushState(null, "", `${location.pathname}?person=${encodeURIComponent(person)}${hash}`);
  openAs(person);
}

function changeLanguage(next) {
  setLanguage(next);
  for (const pane of panes) pane.relabel();
  render();
}

// --- where --------------------------------------------------------------------------------------------------

function parseHash() {
  const [, channel, thread] = location.hash.split("/");
  return { channel: channel || undefined, thread: thread || undefined };
}

function go(channel, thread) {
  location.hash = thread ? `/${channel}/${thread}` : channel ? `/${channel}` : "/";
}

async function route() {
  let { channel, thread } = parseHash();
  if (!store.channel(channel)) {
    thread = undefined;
    // A phone starts with the list of channels; a wide window with the first channel.
    channel = phone.matches ? undefined : store.channels[0]?.id;
  }
  const opened = channel !== place.channel || channelPane.channel !== channel;
  const threadOpened = thread && (thread !== place.thread || opened || threadPane.thread !== thread);
  place = { channel, thread };
  // The line of the last visit goes before the pane is drawn, and that of this one comes once it is known what is new.
  if (opened) store.unreadFrom.delete(channel);
  if (threadOpened) store.unreadFrom.delete(threadKey(channel, thread));
  channelPane.show(channel);
  threadPane.show(thread ? channel : undefined, thread);
  $("thread").hidden = !thread;
  $("app").dataset.pane = thread ? "thread" : channel ? "channel" : "channels";
  render();
  if (!phone.matches) (thread ? threadPane : channelPane).composer.focus();
  await Promise.all([channel && opened && openPane(channelPane), threadOpened && openPane(threadPane)]);
}

async function openPane(pane) {
  const { key } = pane;
  const unread = reading.unreadIn(pane);
  await loading.newest(pane);
  if (pane.key !== key) return;
  reading.drawLine(pane, unread);
  pane.render();
  if (pane.thread) pane.toUnread();
  await reading.seen(pane);
}

// --- what happens -------------------------------------------------------------------------------------------

function onEvent(event) {
  if (event.type === "view") {
    viewDialog.show(event.view ?? null);
    return;
  }
  const added = store.apply(event);
  if (event.type === "changed") announcer.changed(event.message.ts);
  if (!added || (added.user === store.me.id && !added.ephemeral)) return;
  const inThread = isReply(added) ? added.thread_ts : undefined;
  const pane = panes.find((one) => one.channel === event.channel && one.thread === inThread);
  pane?.arrived();
  if (pane && (pane === threadPane || !place.thread)) announcer.arrived(added.ts, store.user(added).name);
  const seen = pane?.following && looking();
  if (seen) queueMicrotask(() => reading.seen(pane));
  else if (inThread) reading.countThreads();
  else if (!added.ephemeral) store.countUnread(event.channel, added);
}

async function submitView(view, values) {
  try {
    return await workspace.submit({ view_id: view.id, values });
  } catch (failure) {
    return { ok: false, errors: failure.body?.errors, text: explain(failure.message, failure.sentence) };
  }
}

async function closeView(view) {
  // What is below in the stack comes with the live stream; only the last one is taken away at once.
  if (!view.previous_view_id) viewDialog.show(null);
  await workspace.closeView(view.id).catch(() => {});
}

// --- the frame ----------------------------------------------------------------------------------------------

function render() {
  if (!store.me) return;
  sidebar.render(place);
  channelPane.render();
  threadPane.render();
  viewDialog.render();
  const waiting = store.waiting();
  const here = store.channel(place.channel);
  const name = here ? `${here.kind === "im" ? "" : "#"}${store.title(here)} · ` : "";
  document.title = `${waiting ? `(${waiting}) ` : ""}${name}${store.me.name} · ${store.team.name}`;
}

function banner(text, retry) {
  if (text && $("banner").dataset.text === text) return; // said already: a button must not move under the finger
  $("banner").dataset.text = text ?? "";
  $("banner").hidden = !text;
  const again = retry && h("button", { type: "button", class: "banner-button" }, t("retryNow"));
  again?.addEventListener("click", retry);
  $("banner").replaceChildren(...(text ? [h("span", { class: "spinner", "aria-hidden": "true" }), text] : []), again ?? "");
}

const copyMessage = (row) => copy(row.querySelector(".message-body").innerText.trim(), row);

const ACTIONS = {
  "open-thread": (button) => go(place.channel, button.closest("[data-ts]").dataset.ts),
  "close-thread": () => go(place.channel),
  "to-channels": () => go(),
  "copy-code": (button) => copy(button.closest(".code-frame").querySelector("code").textContent, button),
  "copy-text": (button) => copyMessage(button.closest(".message")),
  try: (button) => channelPane.composer.suggest(button.dataset.text),
  switcher: () => switcher.open(),
  keys: () => showKeys(),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button) ACTIONS[button.dataset.do](button);
});
document.addEventListener("visibilitychange", () => panes.forEach((pane) => reading.seen(pane)));
addEventListener("hashchange", () => store.me && route());
addEventListener("popstate", () => {
  if (store.me && personInAddress() !== store.me.key) openAs(personInAddress());
});
phone.addEventListener("change", () => store.me && route());

const paneOf = (node) => (node.closest?.("#thread") || (place.thread && !node.closest?.("#channel")) ? threadPane : channelPane);

listen({
  store,
  workspace: () => workspace,
  channelOf: (node) => paneOf(node).channel,
  view: () => viewDialog.view,
});
listenKeys({
  switcher,
  pane: paneOf,
  openThread: (ts) => paneOf(document.activeElement) === channelPane && go(place.channel, ts),
  back: () => {
    if (place.thread) go(place.channel);
    return Boolean(place.thread);
  },
  copy: copyMessage,
});

openAs(personInAddress());
