"use strict";
for (const button of document.querySelectorAll("button.copy")) {
  const code = button.closest(".snippet").querySelector("code");
  const label = button.firstChild;
  button.hidden = false;
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const all = document.createRange();
      all.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(all);
      done = document.execCommand("copy");
    }
    label.data = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { label.data = "Copy"; }, 1500);
  });
}
const opened = [];
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details.group:not([open])")) {
    each.open = true;
    opened.push(each);
  }
});
addEventListener("afterprint", () => { for (const each of opened.splice(0)) each.open = false; });
