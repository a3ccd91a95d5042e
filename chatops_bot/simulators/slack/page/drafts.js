// What somebody has typed and not sent, by person and conversation. It outlives a reload of the window.

export class Drafts {
  constructor() {
    this.person = "";
    this.texts = {};
  }

  open(person) {
    this.person = person;
    try {
      this.texts = JSON.parse(sessionStorage.getItem(`drafts/${person}`)) ?? {};
    } catch {
      this.texts = {};
    }
  }

  get(key) {
    return this.texts[key];
  }

  set(key, text) {
    if (text) this.texts[key] = text;
    else delete this.texts[key];
    sessionStorage.setItem(`drafts/${this.person}`, JSON.stringify(this.texts));
  }
}
