// Conditional requests: a 304 while nothing changed, which costs nothing, and a 200 after a change.
import { failure, octokit, repository, tell } from "./kit.mjs";

const { issues, rateLimit } = octokit().rest;
const issue = { ...repository, issue_number: 38 };
const used = async () => (await rateLimit.get()).data.resources.core.used;

const first = await issues.get(issue);
const before = await used();
const same = await failure(issues.get({ ...issue, headers: { "if-none-match": first.headers.etag } }));
const after = await used();
await issues.createComment({ ...issue, body: "A change" });
const changed = await issues.get({ ...issue, headers: { "if-none-match": first.headers.etag } });

tell({ etag: first.headers.etag, same, cost: after - before, changed: [changed.status, changed.headers.etag !== first.headers.etag] });
