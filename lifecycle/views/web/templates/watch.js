"use strict";
// Asks for the changing part; the server answers 304 while nothing changes. What is the same stays as it is
// in the page, so that nobody loses the place that they read, selected, opened or have the focus at.
const live = document.getElementById("live");
const state = document.getElementById("state");
const gone = document.getElementById("gone");
const news = document.getElementById("news");
const OFTEN = 2000, HIDDEN = 15000, SOON = 150, PATIENCE = 15000;
let tag = null, waiting = Number(live.dataset.waiting), seen = null;
let ahead = 0; // milliseconds that this clock, perhaps of another machine, is ahead of the server's, by which ages go

// As `span` of lifecycle/core/messages/figures.py; a test holds the two together.
function span(seconds) {
  if (Math.round(seconds) < 60) return Math.round(seconds) + " s";
  if (Math.round(seconds / 60) < 60) return Math.round(seconds / 60) + " min";
  return seconds < 86400 ? (seconds / 3600).toFixed(1) + " h" : (seconds / 86400).toFixed(1) + " d";
}

function count(root) {
  const now = (Date.now() - ahead) / 1000;
  for (const one of root.querySelectorAll("time[data-since]")) {
    const text = span(Math.max(now - Number(one.dataset.since), 0));
    if (one.textContent !== text) one.textContent = text;
  }
}

function keyed(node) {
  return node.children.length > 0 && [...node.children].every((one) => one.id);
}

// Makes `old` what `fresh` is; children that have an id are the same ones as before.
function renew(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.tagName !== fresh.tagName || !(keyed(fresh) && keyed(old)) ) { old.replaceWith(fresh); return; }
  for (const one of fresh.attributes) if (old.getAttribute(one.name) !== one.value) old.setAttribute(one.name, one.value);
  const before = new Map([...old.children].map((one) => [one.id, one]));
  let at = old.firstElementChild;
  for (const child of [...fresh.children]) {
    const same = before.get(child.id);
    before.delete(child.id);
    if (same === undefined) { old.insertBefore(child, at); continue; }
    if (same === at) at = at.nextElementSibling; else old.insertBefore(same, at);
    renew(same, child);
  }
  for (const one of before.values()) one.remove();
}

const FOCUS = "a, summary";
function held() {
  const home = document.activeElement?.closest("#live [id]");
  return home ? [home.id, [...home.querySelectorAll(FOCUS)].indexOf(document.activeElement)] : null;
}

function show(html) {
  const fresh = document.createElement("main");
  fresh.innerHTML = html; // made by our own templates, which escape what anybody wrote; the page runs no script of it
  for (const one of fresh.querySelectorAll("details[id]")) one.open = Boolean(document.getElementById(one.id)?.open);
  count(live);
  count(fresh);
  const focus = held();
  for (const one of live.attributes) fresh.setAttribute(one.name, one.value);
  renew(live, fresh);
  if (focus && document.activeElement === document.body) {
    document.getElementById(focus[0])?.querySelectorAll(FOCUS)[focus[1]]?.focus({ preventScroll: true });
  }
  tell(live.querySelectorAll("#waits-list > li").length);
}

function tell(number) {
  document.title = (number ? `(${number}) ` : "") + "lifecycle";
  const color = number ? "%23d97706" : "%231a6e31";
  document.getElementById("icon").href = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='${color}'/></svg>`;
  if (number > waiting) news.textContent = `${number} waiting for you`;
  waiting = number;
}

function clock(moment) {
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map((one) => String(one).padStart(2, "0")).join(":");
}

async function look() {
  let pause = document.hidden ? HIDDEN : OFTEN;
  try {
    // A server that was stopped, or is behind a dead tunnel, takes the request and never answers it.
    const signal = AbortSignal.timeout(PATIENCE);
    const answer = await fetch("live.html", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store", signal });
    ahead = Date.now() - Date.parse(answer.headers.get("Date")) || 0;
    if (answer.status === 200) {
      show(await answer.text());
      tag = answer.headers.get("ETag");
      if (document.getElementById("unread")) pause = SOON;
    } else if (answer.status !== 304) throw new Error(answer.statusText);
    seen = new Date();
    state.textContent = "live, " + clock(seen);
    gone.textContent = "";
    document.body.classList.remove("old");
  } catch {
    if (!gone.textContent) {
      const when = seen ? `what you see is of ${seen.toDateString()}, ${clock(seen)}` : "what you see is old";
      gone.textContent = `lifecycle watch --web does not answer any more: ${when}. Start it again, and open the address that it prints.`;
      state.textContent = "not live";
    }
    document.body.classList.add("old");
  }
  count(live);
  clearTimeout(next);
  next = setTimeout(look, pause);
}

let next = setTimeout(look, 0);
tell(waiting);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) { clearTimeout(next); look(); }
});
