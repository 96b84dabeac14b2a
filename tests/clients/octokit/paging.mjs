// Every page, by octokit's own paginator, which follows `Link` and unpacks `total_count` answers.
import { given, octokit, repository, tell } from "./kit.mjs";

const kit = octokit();
const { issues, checks } = kit.rest;
const asked = { ...repository, state: "all", per_page: 3 };

const pages = [];
for await (const { data, headers } of kit.paginate.iterator(issues.listForRepo, asked)) {
  pages.push({ numbers: data.map((one) => one.number), link: headers.link ?? null });
}
const whole = await kit.paginate(issues.listForRepo, asked, ({ data }) => data.map((one) => one.number));
const early = await kit.paginate(issues.listForRepo, asked, ({ data }, done) => {
  done();
  return data;
});
const runs = await kit.paginate(checks.listForRef, { ...repository, ref: given.ref, per_page: 2 });
const beyond = (await issues.listForRepo({ ...asked, page: 99 })).data;

tell({ pages, whole, early: early.length, runs: runs.map((one) => one.name), beyond });
