// The graphql package alone: queries, mutations, partial data with errors, and pages by cursor.
import { graphql } from "@octokit/graphql";
import { Octokit } from "@octokit/core";
import { paginateGraphQL } from "@octokit/plugin-paginate-graphql";
import { failure, given, octokit, tell } from "./kit.mjs";

const ask = graphql.defaults({ baseUrl: given.api, headers: { authorization: `token ${given.token}` } });
const where = { owner: given.owner, name: given.repo };

const { viewer, repository, rateLimit } = await ask(
  `query($owner: String!, $name: String!) {
    viewer { login }
    rateLimit { cost remaining limit }
    repository(owner: $owner, name: $name) { id nameWithOwner labels(first: 20) { nodes { id name } } }
  }`,
  where,
);
const made = (
  await ask(
    `mutation($repository: ID!, $labels: [ID!]) {
      createIssue(input: {repositoryId: $repository, title: "By graphql", body: "Hm", labelIds: $labels}) {
        issue { id number title labels(first: 5) { nodes { name } } }
      }
    }`,
    { repository: repository.id, labels: repository.labels.nodes.filter((one) => one.name === "bug").map((one) => one.id) },
  )
).createIssue.issue;
const both = await ask(
  `mutation($id: ID!) {
    comment: addComment(input: {subjectId: $id, body: "Said"}) { commentEdge { node { body author { login } } } }
    close: closeIssue(input: {issueId: $id, stateReason: NOT_PLANNED}) { issue { state stateReason } }
  }`,
  { id: made.id },
);

async function partial(text, variables) {
  try {
    await ask(text, variables);
    return null;
  } catch (error) {
    return { name: error.name, data: error.data, errors: error.errors, message: error.message };
  }
}
const absent = await partial(
  `query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { there: issue(number: 42) { number } gone: issue(number: 99999) { number } } }`,
  where,
);
const wrong = await partial("{ viewer { shoeSize } }", {});
const nobody = await failure(ask({ query: "{ viewer { login } }", headers: { authorization: "token wrong" } }));

const Paging = Octokit.plugin(paginateGraphQL);
const all = await octokit(given.token, Paging).graphql.paginate(
  `query($cursor: String, $owner: String!, $name: String!) {
    repository(owner: $owner, name: $name) {
      issues(first: 3, after: $cursor, orderBy: {field: CREATED_AT, direction: ASC}) { nodes { number } pageInfo { hasNextPage endCursor } }
    }
  }`,
  where,
);

tell({
  viewer: viewer.login, rateLimit, repository: repository.nameWithOwner, made, both, absent, wrong, nobody,
  all: all.repository.issues.nodes.map((one) => one.number),
});
