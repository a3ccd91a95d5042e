// The page: one person's window into the workspace. The address holds who (`?person=`) and where (`#/channel/thread`),
// so that two windows can be two people and Back works as it should.

import { Workspace } from "./api.js";
import { Composer } from "./composer.js";
import { ViewDialog } from "./dialogs.js";
import { h } from "./dom.js";
import { explain, listen } from "./interactions.js";
import { Pane } from "./pane.js";
import { Sidebar } from "./sidebar.js";
import { Store } from "./store.js";
import "./theme.js";
import { setLanguage, t } from "./words.js";

// Who a window without `?person=` belongs to: the on-call engineer of the demo workspace.
const DEFAULT_PERSON = "oscar";

const $ = (id) => document.getElementById(id);
const phone = matchMedia("(max-width: 700px)");

const store = new Store(render);
let workspace;
let live;
let place = { channel: undefined, thread: undefined };
let lastRead = new Map();

const channelPane = makePane($("channel"));
const threadPane = makePane($("thread"));
const sidebar = new Sidebar($("sidebar"), store, { switchTo, setLanguage: changeLanguage });
const viewDialog = new ViewDialog(store, { submit: submitView, close: closeView });

function makePane(root) {
  const composer = new Composer(store, async (text) => {
    const { channel, thread } = pane;
    pane.following = true;
    await workspace.post(channel, thread, text);
  });
  const pane = new Pane(root, store, composer, { load: loadOlder, retry: load, seen: markRead });
  return pane;
}

// --- who ----------------------------------------------------------------------------------------------------

const personInAddress = () => new URLSearchParams(location.search).get("person") ?? DEFAULT_PERSON;

async function openAs(person) {
  live?.close();
  store.clear();
  lastRead = new Map();
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
      banner(t("lost"));
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
  await Promise.allSettled([refreshState(), load(channelPane), threadPane.channel && load(threadPane)]);
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
  for (const pane of [channelPane, threadPane]) {
    pane.rows.clear();
    pane.list.replaceChildren();
    pane.composer.relabel();
  }
  render();
}

// --- where --------------------------------------------------------------------------------------------------

function parseHash() {
  const [, channel, thread] = location.hash.split("/");
  return { channel: channel || undefined, thread: thread || undefined };
}

const go = (channel, thread) => {
  location.hash = thread ? `/${channel}/${thread}` : channel ? `/${channel}` : "/";
};

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
  channelPane.show(channel);
  threadPane.show(thread ? channel : undefined, thread);
  $("thread").hidden = !thread;
  $("app").dataset.pane = thread ? "thread" : channel ? "channel" : "channels";
  render();
  const loads = [];
  if (channel && opened) loads.push(openChannel());
  if (threadOpened) loads.push(load(threadPane));
  if (!phone.matches) (thread ? threadPane : channelPane).composer.focus();
  await Promise.all(loads);
}

async function openChannel() {
  const { channel } = place;
  const unread = store.channel(channel).unread ?? 0;
  store.unreadFrom.delete(channel);
  await load(channelPane);
  const others = store.list(channel).messages.filter((message) => message.user !== store.me.id && !message.ephemeral);
  if (unread && others.length) store.unreadFrom.set(channel, others.at(-Math.min(unread, others.length)).ts);
  store.changed();
  markRead(channelPane);
}

// --- messages -----------------------------------------------------------------------------------------------

async function load(pane) {
  const { key, channel, thread } = pane;
  const asked = workspace;
  const list = store.list(key);
  list.loading = true;
  try {
    // What changes while the answer is on its way may be missing in it, so then it is asked for again.
    for (let tries = 0; tries === 0 || (list.touched && tries < 5); tries += 1) {
      list.touched = false;
      const answer = await asked.messages(channel, { thread_ts: thread });
      if (asked !== workspace) return;
      store.fill(key, answer);
    }
  } catch {
    if (asked !== workspace || list.loaded) return;
    list.failed = true;
    store.changed();
  } finally {
    list.loading = false;
  }
}

const loadingOlder = new Set();

async function loadOlder(pane) {
  const { key, channel, thread } = pane;
  if (loadingOlder.has(key)) return;
  loadingOlder.add(key);
  const asked = workspace;
  const oldest = store.list(key).messages.find((message) => message.ts !== thread);
  try {
    const answer = await asked.messages(channel, { thread_ts: thread, before: oldest?.ts });
    if (asked === workspace) store.fill(key, answer, { older: true });
  } finally {
    loadingOlder.delete(key);
  }
}

const looking = () => document.visibilityState === "visible";

async function markRead(pane) {
  const { channel, thread } = pane;
  if (!channel || !pane.following || !looking()) return;
  const known = store.channel(channel);
  const posted = store.list(pane.key).messages.filter((message) => !message.ephemeral);
  if (!known || !posted.length || (thread && !known.mentions)) return;
  const newest = posted
    .flatMap(({ ts, latest_reply }) => [ts, latest_reply ?? ts])
    .reduce((a, b) => (Number(a) > Number(b) ? a : b));
  if (Number(lastRead.get(channel) ?? 0) >= Number(newest) && !known.unread && !known.mentions) return;
  lastRead.set(channel, newest);
  Object.assign(known, { unread: 0, mentions: 0 });
  store.changed();
  await workspace.read(channel, newest).catch(() => lastRead.delete(channel));
}

function onEvent(event) {
  if (event.type === "view") {
    viewDialog.show(event.view ?? null);
    return;
  }
  const added = store.apply(event);
  if (!added) return;
  const inThread = added.thread_ts && added.thread_ts !== added.ts ? added.thread_ts : undefined;
  const pane = [channelPane, threadPane].find((one) => one.channel === event.channel && one.thread === inThread);
  const mine = added.user === store.me.id && !added.ephemeral;
  if (!mine) pane?.arrived();
  if (mine) return;
  const seen = pane?.following && looking();
  if (!seen) store.countUnread(event.channel, added);
  queueMicrotask(() => seen && markRead(pane));
}

// --- modals -------------------------------------------------------------------------------------------------

async function submitView(view, values) {
  try {
    return await workspace.submit({ view_id: view.id, values });
  } catch (failure) {
    return { ok: false, errors: failure.body?.errors, text: explain(failure.message, failure.sentence) };
  }
}

async function closeView(view) {
  viewDialog.show(null);
  await workspace.closeView(view.id).catch(() => {});
}

// --- the frame ----------------------------------------------------------------------------------------------

function render() {
  if (!store.me) return;
  sidebar.render(place.channel);
  channelPane.render();
  threadPane.render();
  viewDialog.render();
  const waiting = store.channels.reduce((sum, { mentions = 0 }) => sum + mentions, 0);
  const here = store.channel(place.channel);
  const name = here ? `${here.kind === "im" ? "" : "#"}${store.title(here)} · ` : "";
  document.title = `${waiting ? `(${waiting}) ` : ""}${name}${store.me.name} · ${store.team.name}`;
}

function banner(text) {
  $("banner").hidden = !text;
  $("banner").replaceChildren(text ? h("span", { class: "spinner", "aria-hidden": "true" }) : "", text ?? "");
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = h("textarea", { class: "off-screen" }, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  $("toast").textContent = t("copied");
  $("toast").classList.add("shown");
  setTimeout(() => $("toast").classList.remove("shown"), 1400);
}

const ACTIONS = {
  "open-thread": (button) => go(place.channel, button.closest("[data-ts]").dataset.ts),
  "close-thread": () => go(place.channel),
  "to-channels": () => go(),
  "copy-code": (button) => copy(button.closest(".code-frame").querySelector("code").textContent, button),
  "copy-text": (button) => copy(button.closest(".message").querySelector(".message-body").innerText.trim(), button),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button) ACTIONS[button.dataset.do](button);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing && place.thread && !document.querySelector("dialog[open]"))
    go(place.channel);
});
document.addEventListener("visibilitychange", () => looking() && (markRead(channelPane), markRead(threadPane)));
addEventListener("hashchange", () => store.me && route());
addEventListener("popstate", () => {
  if (store.me && personInAddress() !== store.me.key) openAs(personInAddress());
});
phone.addEventListener("change", () => store.me && route());

listen({
  store,
  workspace: () => workspace,
  channelOf: (node) => (node.closest("#thread") ? threadPane : channelPane).channel,
  view: () => viewDialog.view,
});

openAs(personInAddress());
