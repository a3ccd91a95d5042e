// The question that a control asks before it acts, on the native <dialog>: it traps the focus, closes on Escape and
// gives the focus back by itself.

import { text } from "./blocks.js";
import { h, iconButton } from "./dom.js";
import { t } from "./words.js";

/** Asks by a block's `confirm` object; resolves to whether the person agreed. */
export function confirmDialog(confirm) {
  const deny = h(
    "button",
    { type: "button", class: "button default", value: "deny" },
    confirm.deny?.text ?? t("cancel"),
  );
  const accept = h(
    "button",
    { type: "button", class: `button ${confirm.style === "danger" ? "danger solid" : "primary"}`, value: "confirm" },
    confirm.confirm?.text ?? t("confirm"),
  );
  const dialog = h(
    "dialog",
    {
      class: "dialog confirm",
      role: "alertdialog",
      "aria-labelledby": "confirm-title",
      "aria-describedby": "confirm-text",
    },
    h(
      "header",
      { class: "dialog-header" },
      h("h2", { id: "confirm-title" }, confirm.title?.text ?? t("sureTitle")),
      iconButton("close", t("close"), { value: "deny" }),
    ),
    h("div", { class: "dialog-body", id: "confirm-text" }, text(confirm.text, "div", "rich")),
    h("footer", { class: "dialog-footer" }, deny, accept),
  );
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) dialog.close(button.value);
    else if (event.target === dialog) dialog.close("deny");
  });
  dialog.showModal();
  // The safe answer has the focus, so that a hurried Enter changes nothing.
  deny.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "confirm");
    });
  });
}
