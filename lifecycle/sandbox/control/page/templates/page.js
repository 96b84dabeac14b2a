"use strict";
// Asks for the changing part once a second; the server answers 304 while nothing changes.
const live = document.getElementById("live");
const state = document.getElementById("state");
const address = "/_sandbox/page?repository=" + encodeURIComponent(live.dataset.repository);
let tag = null;

async function look() {
  try {
    const answer = await fetch(address, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
    if (answer.status === 200) {
      tag = answer.headers.get("ETag");
      live.innerHTML = await answer.text();
    }
    state.textContent = "live";
  } catch {
    state.textContent = "not reachable: what you see is old";
  }
  setTimeout(look, 1000);
}

const choice = document.getElementById("repository");
if (choice) {
  choice.addEventListener("change", () => choice.form.submit());
}
look();
