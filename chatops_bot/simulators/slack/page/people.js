// How a person or the bot looks: avatar and role badge.

import { h } from "./dom.js";
import { initials } from "./format.js";
import { t } from "./words.js";

const BOT_FACE = "M6 8.5A2.5 2.5 0 0 1 8.5 6h3A2.5 2.5 0 0 1 14 8.5v3a2.5 2.5 0 0 1-2.5 2.5h-3A2.5 2.5 0 0 1 6 11.5ZM10 6V3.5M8.6 9.7v.6M11.4 9.7v.6M4 9.5v1.5M16 9.5v1.5";

export function avatar(user, size = "") {
  const face = user.isBot || user.is_bot ? botFace() : initials(user.name ?? "?");
  const kind = user.isBot || user.is_bot ? " bot" : "";
  return h("span", { class: `avatar${kind} ${size}`.trim(), color: user.color, "aria-hidden": "true" }, face);
}

function botFace() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "2.5 2.5 15 12.5");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", BOT_FACE);
  svg.append(path);
  return svg;
}

export const roleBadge = (role) => h("span", { class: `role role-${role}` }, t(role) ?? role);

export const appBadge = () => h("span", { class: "app-badge" }, t("app"));
