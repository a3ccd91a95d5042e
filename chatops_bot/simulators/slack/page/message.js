// One message as an element: a pure function of its JSON, of the store, and of its place in the list.

import { renderBlocks } from "./blocks.js";
import { h, icon, iconButton } from "./dom.js";
import { clock, fullTime, localDate, shortClock, when } from "./format.js";
import { appBadge, avatar } from "./people.js";
import { threadKey } from "./store.js";
import { t } from "./words.js";

/** `place`: { channel, inThread, grouped }. */
export function renderMessage(message, store, place) {
  const author = store.user(message);
  const grouped = place.grouped && !message.ephemeral;
  const row = h(
    "article",
    {
      class: `message${grouped ? " grouped" : ""}${message.ephemeral ? " ephemeral" : ""}`,
      "data-key": message.ts,
      "data-ts": message.ts,
      "aria-label": `${author.name}, ${clock(message.ts)}`,
      tabindex: -1,
    },
    message.ephemeral && h("p", { class: "only-you" }, icon("eye"), t("onlyYou")),
    grouped
      ? h("time", { class: "gutter-time", datetime: message.ts, title: fullTime(message.ts) }, shortClock(message.ts))
      : avatar(author),
    h(
      "div",
      { class: "message-main" },
      !grouped && byline(message, author),
      h(
        "div",
        { class: "message-body", lang: languageOf(message) },
        body(message, store, place),
        grouped && edited(message),
      ),
      reactions(message, store),
      !place.inThread && replyLink(message, store),
      !place.inThread && status(store.statuses.get(threadKey(place.channel, message.ts)), store),
    ),
    toolbar(message, place),
  );
  return settle(row, store);
}

/** The language that a message is read out in, and whose glyphs it gets: Chinese where it has such characters. */
function languageOf({ text = "", blocks }) {
  const said = text + (blocks ? JSON.stringify(blocks) : "");
  if (/[\u3400-\u9fff]/.test(said)) return "zh-CN";
  return /[a-z]{2}/i.test(said) ? "en" : undefined;
}

function byline(message, author) {
  return h(
    "header",
    { class: "byline" },
    h("span", { class: "author" }, author.name),
    author.isBot && appBadge(),
    h("time", { class: "time", datetime: message.ts, title: fullTime(message.ts) }, clock(message.ts)),
    edited(message),
  );
}

/** Beside the time, so that the first edit of an answer that grows moves nothing. */
function edited({ edited: edit }) {
  return edit && h("span", { class: "edited", title: edit.ts ? fullTime(edit.ts) : undefined }, ` ${t("edited")}`);
}

function body(message, store, { inThread }) {
  // The root of an open thread is shown twice, so ids of its fields say where they are.
  const scope = { area: inThread ? "thread" : "channel", ts: message.ts, controls: store.controls, choices: store.choices };
  const blocks = message.blocks?.length
    ? renderBlocks(message.blocks, scope)
    : h("div", { class: "rich text", html: message.html ?? "" });
  const attachments = (message.attachments ?? []).map((attachment, index) =>
    h(
      "div",
      {
        class: "attachment",
        color: /^#?[0-9a-f]{3,8}$/i.test(attachment.color ?? "") ? `#${attachment.color.replace("#", "")}` : undefined,
        "data-key": `attachment-${index}`,
      },
      attachment.title && h("strong", {}, attachment.title),
      attachment.blocks
        ? renderBlocks(attachment.blocks, scope)
        : attachment.html && h("div", { class: "rich", html: attachment.html }),
      attachment.fields?.length &&
        h(
          "div",
          { class: "fields" },
          attachment.fields.map((field) =>
            h("div", { class: "field" }, h("strong", {}, field.title), h("br"), field.value),
          ),
        ),
    ),
  );
  const files = (message.files ?? []).map((file) =>
    h(
      "a",
      {
        class: "file",
        href: file.url_private ?? file.permalink,
        target: "_blank",
        rel: "noopener noreferrer",
        "data-key": `file-${file.id}`,
      },
      icon("copy"),
      h("span", {}, file.title ?? file.name),
    ),
  );
  return [blocks, attachments, files];
}

function reactions(message, store) {
  if (!message.reactions?.length) return null;
  return h(
    "div",
    { class: "reactions" },
    message.reactions.map((reaction) => {
      const users = reaction.users ?? [];
      const names = users.map((id) => store.users[id]?.name ?? id).join(", ");
      const mine = users.includes(store.me?.id) ? " mine" : "";
      return h(
        "span",
        { class: `reaction${mine}`, title: `${names} :${reaction.name}:`, "data-key": reaction.name },
        reaction.emoji,
        h("b", {}, String(reaction.count ?? users.length)),
      );
    }),
  );
}

function replyLink(message, store) {
  if (!message.reply_count) return null;
  const users = (message.reply_users ?? []).slice(0, 5).map((id) => avatar(store.user({ user: id }), "small"));
  return h(
    "button",
    { type: "button", class: "reply-link", "data-do": "open-thread" },
    h("span", { class: "reply-avatars" }, users),
    h("span", { class: "reply-count" }, t("replies", message.reply_count)),
    message.latest_reply && h("span", { class: "reply-when" }, t("lastReply", when(message.latest_reply))),
    h("span", { class: "reply-view" }, t("viewThread")),
    icon("right"),
  );
}

export function status(text, store) {
  if (!text) return null;
  return h(
    "p",
    { class: "status", "data-key": "status" },
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("span", {}, h("b", {}, store.bot?.name), ` ${text}`),
  );
}

function toolbar(message, { inThread }) {
  if (message.ephemeral) return null;
  return h(
    "div",
    { class: "hover-actions", role: "toolbar", "aria-label": t("moreActions") },
    !inThread && iconButton("reply", t("replyInThread"), { "data-do": "open-thread" }),
    iconButton("copy", t("copyText"), { "data-do": "copy-text" }),
  );
}

/** What only this reader's page knows: mentions of them, their time zone, copy buttons beside code. */
export function settle(root, store) {
  for (const mention of root.querySelectorAll(".mention[data-user]"))
    if (mention.dataset.user === store.me?.id) mention.classList.add("mine");
  for (const time of root.querySelectorAll("time[data-format]")) {
    time.title = fullTime(Date.parse(time.getAttribute("datetime")) / 1000);
    const local = localDate(time.getAttribute("datetime"), time.dataset.format);
    if (local) time.textContent = local;
  }
  for (const block of root.querySelectorAll("pre")) {
    const frame = h("div", { class: "code-frame" });
    block.replaceWith(frame);
    block.tabIndex = 0;
    frame.append(
      block.dataset.language ? h("span", { class: "code-language" }, block.dataset.language) : "",
      block,
      iconButton("copy", t("copy"), { class: "icon-button copy-code", "data-do": "copy-code" }),
    );
  }
  for (const table of root.querySelectorAll(".markdown table")) {
    const frame = h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "table" });
    table.replaceWith(frame);
    frame.append(table);
  }
  return root;
}
