// Times as people read them, in the reader's zone and language.

import { language, t } from "./words.js";

const locale = () => (language === "zh" ? "zh-CN" : "en-US");
const show = (date, options) => new Intl.DateTimeFormat(locale(), options).format(date);

export const dateOf = (ts) => new Date(Number.parseFloat(ts) * 1000);
export const clock = (ts) => show(dateOf(ts), { hour: "numeric", minute: "2-digit" });
export const shortClock = (ts) => show(dateOf(ts), { hour: "2-digit", minute: "2-digit", hour12: false });
export const fullTime = (ts) => show(dateOf(ts), { dateStyle: "full", timeStyle: "medium" });

const dayNumber = (date) => Math.floor((date.getTime() - date.getTimezoneOffset() * 60000) / 86400000);
export const sameDay = (a, b) => dayNumber(dateOf(a)) === dayNumber(dateOf(b));

export function dayLabel(ts) {
  const date = dateOf(ts);
  const age = dayNumber(new Date()) - dayNumber(date);
  if (age === 0) return t("today");
  if (age === 1) return t("yesterday");
  const year = date.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
  return show(date, { weekday: "long", month: "long", day: "numeric", ...year });
}

export function when(ts) {
  const day = sameDay(ts, Date.now() / 1000)
    ? t("today").toLowerCase()
    : show(dateOf(ts), { month: "short", day: "numeric" });
  return language === "zh" ? `${day} ${clock(ts)}` : `${day} at ${clock(ts)}`;
}

const PATTERNS = {
  date: { month: "long", day: "numeric", year: "numeric" },
  date_num: { year: "numeric", month: "2-digit", day: "2-digit" },
  date_slash: { year: "numeric", month: "2-digit", day: "2-digit" },
  date_short: { month: "short", day: "numeric", year: "numeric" },
  date_long: { weekday: "long", month: "long", day: "numeric", year: "numeric" },
  date_pretty: { month: "long", day: "numeric", year: "numeric" },
  date_short_pretty: { month: "short", day: "numeric", year: "numeric" },
  date_long_pretty: { weekday: "long", month: "long", day: "numeric", year: "numeric" },
  time: { hour: "numeric", minute: "2-digit" },
  time_secs: { hour: "numeric", minute: "2-digit", second: "2-digit" },
};

/** Fills Slack's date pattern (`{date_short} at {time}`); unknown placeholders leave the fallback standing. */
export function localDate(iso, pattern) {
  const date = new Date(iso);
  let known = pattern.includes("{");
  const text = pattern.replace(/\{(\w+)\}/g, (_, name) => {
    if (name === "ago") return relative(date);
    if (!PATTERNS[name]) known = false;
    return PATTERNS[name] ? show(date, PATTERNS[name]) : "";
  });
  return known ? text : null;
}

function relative(date) {
  const seconds = Math.round((date - Date.now()) / 1000);
  const [unit, size] = [
    ["day", 86400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ].find(([, n]) => Math.abs(seconds) >= n) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
}

/** Two letters of a Latin name; the last two characters of a Chinese one, as Chinese chat products do. */
export function initials(name) {
  if (/[\u3400-\u9fff]/.test(name)) return name.slice(-2);
  const words = name.split(/[\s_.-]+/).filter(Boolean);
  return (words.length > 1 ? words[0][0] + words[1][0] : name.slice(0, 2)).toUpperCase();
}
