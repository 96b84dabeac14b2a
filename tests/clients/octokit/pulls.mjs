// Pull requests from the branch to the merge, and what is refused on the way.
import { failure, given, octokit, repository, tell } from "./kit.mjs";

const kit = octokit();
const { git, pulls, repos } = kit.rest;
const reviewer = octokit(given.reviewer).rest;

async function branch(name, path, text) {
  const base = (await git.getRef({ ...repository, ref: "heads/main" })).data.object.sha;
  const parent = (await git.getCommit({ ...repository, commit_sha: base })).data;
  const blob = (await git.createBlob({ ...repository, content: text })).data.sha;
  const tree = (
    await git.createTree({ ...repository, base_tree: parent.tree.sha, tree: [{ path, mode: "100644", type: "blob", sha: blob }] })
  ).data.sha;
  const commit = (await git.createCommit({ ...repository, message: `Add ${path}`, tree, parents: [base] })).data.sha;
  await git.createRef({ ...repository, ref: `refs/heads/${name}`, sha: commit });
  return commit;
}

const sha = await branch("octokit-one", "one.txt", "one\n");
const made = (await pulls.create({ ...repository, title: "One", body: "Refs #42", head: "octokit-one", base: "main", draft: true })).data;
const pull = { ...repository, pull_number: made.number };
const twice = await failure(pulls.create({ ...repository, title: "Again", head: "octokit-one", base: "main" }));
const empty = await failure(pulls.create({ ...repository, title: "Nothing", head: "main", base: "main" }));
const draft = await failure(pulls.merge(pull));
await kit.graphql("mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }", { id: made.node_id });
const files = (await pulls.listFiles(pull)).data;
const commits = (await pulls.listCommits(pull)).data;
const diff = (await pulls.get({ ...pull, mediaType: { format: "diff" } })).data;

await pulls.requestReviewers({ ...pull, reviewers: ["maria"] });
const asked = (await pulls.listRequestedReviewers(pull)).data.users.map((one) => one.login);
const own = await failure(pulls.createReview({ ...pull, event: "APPROVE" }));
const review = (await reviewer.pulls.createReview({ ...pull, event: "APPROVE", body: "Good" })).data;
const reviews = (await pulls.listReviews(pull)).data.map((one) => [one.user.login, one.state]);
const answered = (await pulls.listRequestedReviewers(pull)).data.users.map((one) => one.login);

let ready = { mergeable: null }; // GitHub reckons at the first look, and says null meanwhile
for (let look = 0; look < 5 && ready.mergeable === null; look += 1) {
  ready = (await pulls.get(pull)).data;
}
const moved = await failure(pulls.merge({ ...pull, sha: "0".repeat(40) }));
const before = await failure(pulls.checkIfMerged(pull));
const merged = (await pulls.merge({ ...pull, sha, merge_method: "squash", commit_title: "One, squashed" })).data;
const after = await failure(pulls.checkIfMerged(pull));
const again = await failure(pulls.merge(pull));
const tip = (await repos.getCommit({ ...repository, ref: "main" })).data;
await git.deleteRef({ ...repository, ref: "heads/octokit-one" });
const gone = await failure(git.getRef({ ...repository, ref: "heads/octokit-one" }));

tell({
  number: made.number, sha, twice, empty, draft, own, moved, before, after, again, gone, asked, answered, reviews, diff,
  made: { draft: made.draft, head: made.head.sha, base: made.base.ref, state: made.state },
  files: files.map((one) => [one.filename, one.status, one.additions]),
  commits: commits.map((one) => one.sha),
  review: review.state,
  ready: { mergeable: ready.mergeable, state: ready.mergeable_state, draft: ready.draft, changed: ready.changed_files },
  merged,
  tip: { sha: tip.sha, title: tip.commit.message.split("\n")[0] },
});
