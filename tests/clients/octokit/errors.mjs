// What a program that catches RequestError finds in it.
import { failure, given, octokit, repository, tell } from "./kit.mjs";

const { issues, pulls, git, repos } = octokit().rest;
const main = (await git.getRef({ ...repository, ref: "heads/main" })).data.object.sha;

tell({
  credentials: await failure(octokit("wrong").rest.issues.get({ ...repository, issue_number: 42 })),
  issue: await failure(issues.get({ ...repository, issue_number: 99999 })),
  elsewhere: await failure(repos.get({ owner: given.owner, repo: "no-such-repository" })),
  nameless: await failure(issues.create({ ...repository, title: "" })),
  state: await failure(issues.update({ ...repository, issue_number: 42, state: "ajar" })),
  label: await failure(issues.createLabel({ ...repository, name: "bug", color: "ff0000" })),
  head: await failure(pulls.create({ ...repository, title: "No head", head: "no-such-branch", base: "main" })),
  ref: await failure(git.createRef({ ...repository, ref: "refs/heads/main", sha: main })),
  sha: await failure(git.createRef({ ...repository, ref: "refs/heads/nowhere", sha: "0".repeat(40) })),
  behind: await failure(git.updateRef({ ...repository, ref: "heads/main", sha: given.unrelated, force: false })),
  commit: await failure(repos.getCommit({ ...repository, ref: "no-such-ref" })),
});
