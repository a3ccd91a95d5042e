// The top of a conversation: what it is for, who the reader is in it, and questions to try.

import { h, icon } from "./dom.js";
import { language, t } from "./words.js";

/** Questions that the bot understands, with and without a language model. */
const QUESTIONS = {
  en: ["What failed in the last 24 hours?", "Why did db-backup fail?", "Pause db-backup"],
  zh: ["最近有哪些任务失败了？", "暂停 db-backup"],
};

export function beginning(channel, name, store) {
  const direct = channel.kind === "im";
  const bot = store.bot?.name;
  const languages = language === "zh" ? ["zh", "en"] : ["en", "zh"];
  const examples = languages.flatMap((lang) => QUESTIONS[lang].map((question) => example(question, lang, direct, bot)));
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
