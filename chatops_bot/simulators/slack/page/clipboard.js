// Copying, with a word that it was done.

import { h } from "./dom.js";
import { t } from "./words.js";

export async function copy(text, button) {
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
  const toast = document.getElementById("toast");
  toast.textContent = t("copied");
  toast.classList.add("shown");
  setTimeout(() => toast.classList.remove("shown"), 1400);
}
