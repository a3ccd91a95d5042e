// Before the first paint, so that nobody sees the other theme flash by: the chosen theme, and the browser's own bars
// in the colour of the page.
(() => {
  const BARS = { light: "#ffffff", dark: "#1a1d21" };
  globalThis.applyTheme = (name) => {
    document.documentElement.dataset.theme = name;
    for (const meta of document.querySelectorAll("meta[name=theme-color]"))
      meta.content = BARS[name] ?? BARS[meta.media.includes("dark") ? "dark" : "light"];
  };
  globalThis.applyTheme(localStorage.getItem("theme") ?? "auto");
})();
