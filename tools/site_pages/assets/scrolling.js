// A wide table scrolls in a box of its own. Who has no mouse must be able to reach it.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "table");
    }
  }
});
