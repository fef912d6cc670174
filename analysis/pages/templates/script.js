"use strict";
// The page is whole without this script; it sorts tables, tells a figure's values, turns the light off.

// The number at a cell's beginning, without the commas of its thousands, or the bound that it lies
// below or above; not finite if there is none.
const numberOf = text => Number.parseFloat(text.replace(/[,\s]/g, "").replace(/^[<>~]/, ""));

// -1 of a number that is only known to lie below, 1 of one above.
const sideOf = text => text.startsWith(">") - text.startsWith("<");

// What is not known stays last, whichever way a table is sorted.
function inOrder(a, b, asNumbers, down) {
  const known = text => asNumbers ? Number.isFinite(numberOf(text)) : !text.startsWith("n/a");
  if (!known(a) || !known(b)) return known(b) - known(a);
  const order = asNumbers ? numberOf(a) - numberOf(b) || sideOf(a) - sideOf(b)
                          : a.localeCompare(b, "en", { numeric: true });
  return down ? -order : order;
}

function sort(head) {
  const place = head.cellIndex, body = head.closest("table").tBodies[0];
  const down = head.getAttribute("aria-sort") === "ascending";
  const text = row => row.cells[place].textContent.trim();
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows];
  const asNumbers = head.classList.contains("number")
    && rows.some(row => Number.isFinite(numberOf(text(row))));
  body.append(...rows.sort((a, b) => inOrder(text(a), text(b), asNumbers, down)));
}

for (const button of document.querySelectorAll("table.sortable th button"))
  button.addEventListener("click", () => sort(button.closest("th")));

// A figure's points are its circles that have a title, which a browser without script shows after a
// while; here they become [x, y, text], x and y as shares of the picture from its left and its top.
function takePoints(svg) {
  const { width, height } = svg.viewBox.baseVal;
  return [...svg.querySelectorAll("circle > title")].map(title => {
    const circle = title.parentNode;
    circle.remove();
    return [circle.cx.baseVal.value / width, circle.cy.baseVal.value / height, title.textContent];
  });
}

class Picture {
  constructor(box) {
    this.box = box;
    this.points = takePoints(box.querySelector("svg"));
    this.at = -1;
    this.spot = this.add("spot");
    this.tip = this.add("tip");
    this.tip.setAttribute("role", "status");
    this.hide();
    box.addEventListener("pointermove", event => this.near(event, 24));
    box.addEventListener("pointerdown", event => this.near(event, 40));
    box.addEventListener("pointerleave", event => event.pointerType === "mouse" && this.hide());
    box.addEventListener("blur", () => this.hide());
    box.addEventListener("keydown", event => this.step(event));
  }

  add(name) {
    const made = document.createElement("div");
    made.className = name;
    return this.box.appendChild(made);
  }

  hide() {
    this.spot.hidden = this.tip.hidden = true;
  }

  near(event, reach) {
    const frame = this.box.getBoundingClientRect();
    let nearest = -1, least = reach * reach;
    this.points.forEach(([x, y], at) => {
      const right = x * frame.width + frame.left - event.clientX;
      const below = y * frame.height + frame.top - event.clientY;
      const apart = right * right + below * below;
      if (apart <= least) [nearest, least] = [at, apart];
    });
    if (nearest < 0) this.hide(); else this.show(nearest);
  }

  // With the arrow keys from point to point.
  step(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") this.hide();
    if (!way || !this.points.length) return;
    event.preventDefault();
    this.show((Math.max(this.at, way > 0 ? -1 : 0) + way + this.points.length) % this.points.length);
  }

  show(at) {
    const [x, y, text] = this.points[at];
    const left = x * this.box.clientWidth, top = y * this.box.clientHeight;
    this.at = at;
    this.tip.textContent = text;
    this.spot.hidden = this.tip.hidden = false;
    Object.assign(this.spot.style, { left: `${left}px`, top: `${top}px` });
    const most = this.box.clientWidth - this.tip.offsetWidth;
    const above = top - this.tip.offsetHeight - 12;
    this.tip.style.left = `${Math.max(0, Math.min(most, left - this.tip.offsetWidth / 2))}px`;
    this.tip.style.top = `${above >= 0 ? above : top + 12}px`;
  }
}

for (const box of document.querySelectorAll(".picture")) new Picture(box);

// Light and dark by hand, for this page as long as it is open.
const theme = document.getElementById("theme");
const isDark = () => (document.documentElement.dataset.theme
  ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
theme.hidden = false;
nameTheme();

// What goes on beyond the right edge fades there, until one has scrolled to its end.
for (const box of document.querySelectorAll(".box, nav, pre")) {
  const fade = () => box.classList.toggle(
    "more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  box.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(fade).observe(box);
}

// Paper has nothing to click on.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
