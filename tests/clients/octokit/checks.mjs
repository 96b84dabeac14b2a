// Check runs by an App, statuses by anybody, and who may not.
import { failure, given, octokit, repository, tell } from "./kit.mjs";

const kit = octokit();
const app = octokit(given.app).rest;
const sha = given.sha;

const denied = await failure(kit.rest.checks.create({ ...repository, name: "lint", head_sha: sha }));
const made = (
  await app.checks.create({ ...repository, name: "lint", head_sha: sha, status: "in_progress", external_id: "7", output: { title: "Linting", summary: "…" } })
).data;
const run = { ...repository, check_run_id: made.id };
const done = (
  await app.checks.update({
    ...run,
    conclusion: "failure",
    output: {
      title: "One fault",
      summary: "See line 1",
      annotations: [{ path: "greeting.py", start_line: 1, end_line: 1, annotation_level: "failure", message: "Odd" }],
    },
  })
).data;
const read = (await kit.rest.checks.get(run)).data;
const annotations = (await kit.rest.checks.listAnnotations(run)).data;
const listed = (await kit.rest.checks.listForRef({ ...repository, ref: sha, check_name: "lint" })).data;
const suites = (await kit.rest.checks.listSuitesForRef({ ...repository, ref: sha })).data;
await kit.rest.repos.createCommitStatus({ ...repository, sha, state: "pending", context: "deploy" });
await kit.rest.repos.createCommitStatus({ ...repository, sha, state: "success", context: "deploy", description: "Out", target_url: "https://example.com/1" });
const combined = (await kit.rest.repos.getCombinedStatusForRef({ ...repository, ref: sha })).data;
const every = (await kit.rest.repos.listCommitStatusesForRef({ ...repository, ref: sha })).data;

tell({
  denied,
  made: { status: made.status, conclusion: made.conclusion, external: made.external_id },
  done: { status: done.status, conclusion: done.conclusion, annotations: done.output.annotations_count, ended: done.completed_at !== null },
  read: { id: read.id === made.id, title: read.output.title, sha: read.head_sha },
  annotations: annotations.map((one) => [one.path, one.start_line, one.annotation_level, one.message]),
  listed: [listed.total_count, listed.check_runs.map((one) => one.name)],
  suites: suites.check_suites.map((one) => one.head_sha),
  combined: { state: combined.state, contexts: combined.statuses.map((one) => [one.context, one.state]) },
  every: every.map((one) => [one.context, one.state]),
});
