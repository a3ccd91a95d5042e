// Light, dark, or as the system says. The colours themselves are in tokens.css.

export const theme = () => localStorage.getItem("theme") ?? "auto";

export function setTheme(name) {
  localStorage.setItem("theme", name);
  document.documentElement.dataset.theme = name;
}

setTheme(theme());
