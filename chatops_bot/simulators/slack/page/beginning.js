// The top of a conversation: what it is for, who the reader is in it, and questions to try.

import { h, icon } from "./dom.js";
import { language, t } from "./words.js";

/** Questions that the bot understands, with and without a language model. */
const QUESTIONS = {
  en: ["What failed in the last 24 hours?", "Why did db-backup fail?", "How healthy is the scheduler?"],
  zh: ["最近有哪些任务失败了？", "db-backup 为什么失败？", "整体健康状况如何？"],
};
const CHANGES = { en: "Pause db-backup", zh: "暂停 db-backup" };

export function beginning(channel, name, store) {
  const direct = channel.kind === "im";
  const bot = store.bot?.name;
  // Who may only look is not sent into a refusal.
  const questions = [...QUESTIONS[language], ...(store.me.role === "viewer" ? [] : [CHANGES[language]])];
  const examples = questions.map((question) => example(question, language, direct, bot));
  return h(
    "div",
    { class: "beginning" },
    h("h2", {}, direct ? t("startOfDirect", bot) : t("startOf", `#${name}`)),
    h("p", {}, t(direct ? "directHint" : "startHint", bot)),
    h("p", { class: "examples-title", id: `examples-${channel.id}` }, t("tryThese")),
    h("div", { class: "examples", role: "group", "aria-labelledby": `examples-${channel.id}` }, examples),
  );
}

const example = (question, lang, direct, bot) =>
  h(
    "button",
    { type: "button", class: "example", lang, "data-do": "try", "data-text": direct ? question : `@${bot} ${question}` },
    h("span", {}, question),
    icon("right"),
  );
