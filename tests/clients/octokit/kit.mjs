// What every scenario begins with: where GitHub is, who asks, and how to say what came of it.
import { readFileSync } from "node:fs";
import { Octokit } from "@octokit/rest";

/** What the test says: `api`, `tokens` by login, `owner`, `repo`, and what else a scenario wants. */
export const given = JSON.parse(readFileSync(0, "utf8"));
export const repository = { owner: given.owner, repo: given.repo };

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** An octokit of somebody; `Kind` has other plugins. */
export function octokit(token = given.token, Kind = Octokit, options = {}) {
  return new Kind({ auth: token, baseUrl: given.api, log: silent, ...options });
}

/** What an error says, as a program sees it. */
export async function failure(promise) {
  try {
    const { status } = await promise;
    return { status, failed: false };
  } catch (error) {
    const { name, status, message } = error;
    const { data, headers } = error.response ?? {};
    return { failed: true, name, status, message, data, headers };
  }
}

/** Tell the test. */
export function tell(value) {
  process.stdout.write(JSON.stringify(value));
}
