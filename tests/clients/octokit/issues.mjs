// An issue's life, its comments, and the labels and milestones that it may have.
import { octokit, repository, tell } from "./kit.mjs";

const { issues } = octokit().rest;

await issues.createLabel({ ...repository, name: "octokit", color: "0e8a16", description: "By octokit" });
const label = (await issues.updateLabel({ ...repository, name: "octokit", new_name: "kit", color: "ffffff" })).data;
const milestone = (await issues.createMilestone({ ...repository, title: "v2", description: "Second" })).data;
const made = (
  await issues.create({ ...repository, title: "From octokit", body: "First", labels: ["kit"], assignees: ["sam"] })
).data;
const issue = { ...repository, issue_number: made.number };

await issues.update({ ...issue, body: "Second", milestone: milestone.number });
await issues.addLabels({ ...issue, labels: ["bug", "kit"] });
await issues.setLabels({ ...issue, labels: ["bug", "documentation"] });
await issues.removeLabel({ ...issue, name: "documentation" });
const labels = (await issues.listLabelsOnIssue(issue)).data.map((one) => one.name);
await issues.addAssignees({ ...issue, assignees: ["maria"] });
await issues.removeAssignees({ ...issue, assignees: ["sam"] });
const assignable = (await issues.checkUserCanBeAssigned({ ...repository, assignee: "maria" })).status;

const first = (await issues.createComment({ ...issue, body: "One" })).data;
const second = (await issues.createComment({ ...issue, body: "Two" })).data;
await issues.updateComment({ ...repository, comment_id: first.id, body: "Edited" });
await issues.deleteComment({ ...repository, comment_id: second.id });
const comments = (await issues.listComments(issue)).data.map((one) => one.body);

const closed = (await issues.update({ ...issue, state: "closed", state_reason: "not_planned" })).data;
const counts = (await issues.getMilestone({ ...repository, milestone_number: milestone.number })).data;
const mine = (await issues.listForRepo({ ...repository, state: "closed", labels: "bug", milestone: `${milestone.number}` })).data;
const reopened = (await issues.update({ ...issue, state: "open" })).data;
await issues.deleteLabel({ ...repository, name: "kit" });
await issues.deleteMilestone({ ...repository, milestone_number: milestone.number });
const after = (await issues.get(issue)).data;

tell({
  number: made.number,
  label: { name: label.name, color: label.color, description: label.description },
  made: { author: made.user.login, labels: made.labels.map((one) => one.name), assignees: made.assignees.map((one) => one.login) },
  labels,
  assignable,
  comments,
  closed: { state: closed.state, reason: closed.state_reason, by: closed.closed_by.login, milestone: closed.milestone.title },
  counts: { open: counts.open_issues, closed: counts.closed_issues },
  found: mine.map((one) => one.number),
  reopened: { state: reopened.state, reason: reopened.state_reason, closed_at: reopened.closed_at },
  after: { milestone: after.milestone, body: after.body, assignees: after.assignees.map((one) => one.login) },
});
