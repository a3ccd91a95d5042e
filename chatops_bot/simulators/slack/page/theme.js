// Light, dark, or as the system says. The colours themselves are in tokens.css; `early.js` applies the choice.

export const theme = () => localStorage.getItem("theme") ?? "auto";

export function setTheme(name) {
  localStorage.setItem("theme", name);
  globalThis.applyTheme(name);
}
