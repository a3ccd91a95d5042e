// How a person or the bot looks: avatar and role badge.

import { h, icon } from "./dom.js";
import { initials } from "./format.js";
import { t } from "./words.js";

export function avatar(user, size = "") {
  const isBot = user.isBot || user.is_bot;
  const face = isBot ? icon("bot") : initials(user.name ?? "?");
  const kind = isBot ? " bot" : "";
  return h("span", { class: `avatar${kind} ${size}`.trim(), color: user.color, "aria-hidden": "true" }, face);
}

export const roleBadge = (role) => h("span", { class: `role role-${role}` }, t(role) ?? role);

export const appBadge = () => h("span", { class: "app-badge" }, t("app"));
