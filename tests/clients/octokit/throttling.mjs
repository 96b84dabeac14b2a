// plugin-throttling and plugin-retry, as programs are told to use them, through limits and faults.
import { Octokit } from "@octokit/core";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { given, octokit, tell } from "./kit.mjs";

const told = [];
const Patient = Octokit.plugin(throttling, retry);
const kit = octokit(given.token, Patient, {
  retry: { retryAfterBaseValue: 1 },
  throttle: {
    retryAfterBaseValue: 1, // a second takes a millisecond
    onRateLimit: (seconds, { method, url }, _kit, count) => told.push(["primary", method, url, seconds > 0, count]) && count < 1,
    onSecondaryRateLimit: (seconds, { method, url }, _kit, count) => told.push(["secondary", method, url, seconds, count]) && count < 1,
  },
});

const answers = [];
for (const path of given.paths) {
  answers.push((await kit.request(`GET ${path}`)).status);
}
tell({ told, answers });
