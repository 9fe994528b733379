// Does in a real browser what the console is for, and counts clicks and searches:
// node journeys.mjs CHROMIUM SERVER INVITATION PASSWORD CALLERS
// INVITATION is the link of an administrator. CALLERS is a JSON list of customers, each
// with a state, the path of the account, its postcode and what the caller may say.
// It prints what went wrong.
import { chromium } from "playwright-core";

const [executablePath, server, invitation, password, list] = process.argv.slice(2);
const patience = 60_000; // milliseconds, for a busy machine
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], timeout: 120_000 });
const wrong = [];
const check = (what, ok) => { if (!ok) wrong.push(what); };
const person = async (link) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: "en-GB", timezoneId: "Europe/London" });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("pageerror", (error) => wrong.push(page.url() + ": " + error));
  await page.goto(link);
  await page.locator("input[name=password]").fill(password);
  await page.locator("input[name=again]").fill(password);
  await page.locator("button.primary").click();
  await page.waitForURL(server + "/console/");
  return page;
};
const page = await person(server + invitation);

// What a journey cost so far. Everything that is clicked goes through click, and every
// search through search.
let clicks = 0, searches = 0;
const click = async (locator) => { clicks++; await locator.click(); };
const search = async (words) => {
  searches++;
  await page.keyboard.press("/");
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
  await page.waitForURL(/console\/(search|accounts)\//);
};
const link = (name) => page.getByRole("link", { name });
const button = (name) => page.getByRole("button", { name });
const says = async (text) => page.locator("main", { hasText: text }).first().waitFor();
const runEnds = () => page.locator("#run-progress .state", { hasText: "finished" }).waitFor();

const journeys = [];
for (const caller of JSON.parse(list)) {
  for (const [hint, words] of Object.entries(caller.Hints)) {
    journeys.push({ name: `a caller who is ${caller.State}, by ${hint} (${words})`, clicks: 1, searches: 1, walk: async () => {
      await search(words);
      if (!page.url().endsWith(caller.Path)) await click(page.locator(`#found a[href="${caller.Path}"]`));
      await page.waitForURL(server + caller.Path);
      await page.locator(".heading .state", { hasText: caller.State }).waitFor();
      await says("What happens next");
    } });
  }
  journeys.push({ name: `a caller who is ${caller.State} proves who they are`, clicks: 1, searches: 0, from: caller.Path, walk: async () => {
    await page.locator("select[name=fact]").selectOption("postcode");
    await page.locator("input[name=said]").fill(caller.Postcode);
    await click(button("Check"));
    await says("Yes: the postcode matches.");
    check("the postcode is on the page", !(await page.locator("main").innerText()).includes(caller.Postcode));
  } });
}

journeys.push({ name: "two hundred failures", clicks: 3, searches: 0, walk: async () => {
  await click(page.locator("#attention li", { hasText: "failed" }).getByRole("link", { name: "See the causes" }));
  const cause = page.locator("ol.causes > li").first();
  const retry = cause.getByRole("button", { name: /^Retry these \d+$/ });
  const count = Number((await retry.innerText()).match(/\d+/)[0]);
  check(`only ${count} failures of the first cause`, count > 150);
  for (const action of ["Change rule", "Download"]) check(`a cause has no ${action}`, await cause.getByRole("link", { name: action }).count() === 1);
  await click(retry);
  await page.waitForURL(/runs\/R-/);
  await runEnds();
  check("the retry has other accounts", (await page.locator("#run-progress").innerText()).includes(`of ${count} accounts`));
  check("the run has no causes", await page.locator("#run-failed ol.causes > li").count() > 0);
} });

journeys.push({ name: "rehearse, then run", clicks: 4, searches: 0, walk: async () => {
  await click(page.locator("#s-EAST").getByRole("link", { name: "EAST" }));
  await click(link("Start a run").first());
  await page.locator("#run-size").waitFor();
  check("the form does not say how many accounts", /The run will have 60 accounts/.test(await page.locator("form:has(#run-size)").innerText()));
  check("the form does not propose a dry run", await page.locator("button.primary", { hasText: "Start dry run" }).count() === 1);
  await click(button("Start dry run"));
  await runEnds();
  await click(button("Run for real (60 accounts)"));
  await page.waitForURL(/runs\/R-/);
  await page.locator("h1", { hasText: /^Run R-/ }).waitFor();
  await runEnds();
} });

journeys.push({ name: "pause and resume", clicks: 2, searches: 0, from: "/console/suppliers/NORTH/runs/", walk: async () => {
  await link("Start a run").click();
  await page.locator("input[name=not_before]").fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16));
  await button("Start run").click();
  await page.waitForURL(/runs\/R-/);
  const place = async (name) => { const box = await button(name).boundingBox(); return Math.round(box.x + box.width) + " " + Math.round(box.y); };
  const before = await place("Pause");
  await click(button("Pause"));
  await button("Resume").waitFor();
  await says("Paused by ada");
  check("the button moves", await place("Resume") === before);
  await click(button("Resume"));
  await button("Pause").waitFor();
  await page.locator("summary", { hasText: "Cancel this run" }).click();
  await page.locator("input[name=confirm]").fill("NORTH");
  await button("Cancel run").click();
  await page.locator("#run-progress .state", { hasText: "cancelled" }).waitFor();
} });

journeys.push({ name: "do the books agree", clicks: 1, searches: 0, walk: async () => {
  await click(page.locator("#s-WEST").getByRole("link", { name: "Reconcile" }));
  await page.locator(".verdict", { hasText: "No control totals received yet" }).waitFor();
} });

const enterTotals = async (accounts, verdict) => {
  await click(link("Control totals"));
  await page.locator("input[name='count:accounts']").fill(accounts);
  await click(button("Save control totals"));
  await page.locator(".verdict", { hasText: verdict }).waitFor();
};
journeys.push({ name: "control totals that differ", clicks: 2, searches: 0, from: "/console/suppliers/WEST/reconciliation/", walk: async () => {
  await enterTotals("43", "1 of 1 differ: 3 accounts unexplained");
  const first = await page.locator("tbody tr").first().innerText();
  check("the differing row is not first: " + first, /^Accounts/.test(first));
} });
journeys.push({ name: "control totals that agree, signed", clicks: 4, searches: 0, from: "/console/suppliers/WEST/reconciliation/", walk: async () => {
  await enterTotals("40", "1 of 1 agree. Ready to sign.");
  await click(page.locator("summary", { hasText: "Sign off" }));
  await page.locator("input[name=confirm]").fill("WEST");
  await click(button("Sign off"));
  await says("It cannot be changed.");
} });

let colleague;
journeys.push({ name: "a new colleague", clicks: 4, searches: 0, walk: async () => {
  await click(link("Administration"));
  await click(link("Operators"));
  await click(page.locator("summary", { hasText: "Invite" }));
  await page.locator("input[name=name]").fill("carol");
  await page.locator("select[name=role]").selectOption("support");
  await click(button("Invite"));
  const invited = await page.locator("code.secret").innerText();
  await page.goto(invited);
  check("ada can use the link of carol", await page.locator("input[name=again]").count() === 0);
  colleague = await person(invited);
  check("support sees the administration", await colleague.getByRole("link", { name: "Administration" }).count() === 0);
} });
journeys.push({ name: "another role", clicks: 2, searches: 0, from: "/console/admin/operators/", walk: async () => {
  await click(page.locator("tr", { hasText: "carol" }).getByRole("link", { name: "Change role" }));
  await page.locator("select[name=role]").selectOption("auditor");
  await page.locator("select[name='role.EAST']").selectOption("operator");
  await click(button("Save changes"));
  await page.locator("tr", { hasText: "carol" }).getByText("auditor").first().waitFor();
  const start = colleague.getByRole("link", { name: "Start a run" });
  for (let tries = 0; tries < 20; tries++) { // another server may have remembered the role for a moment
    await colleague.goto(server + "/console/suppliers/EAST/");
    if (await start.count() > 0) break;
    await colleague.waitForTimeout(250);
  }
  check("an operator of EAST cannot start a run", await start.count() > 0);
  await colleague.goto(server + "/console/suppliers/NORTH/");
  check("an auditor of NORTH can start a run", await colleague.getByRole("link", { name: "Start a run" }).count() === 0);
} });
journeys.push({ name: "a lost phone", clicks: 2, searches: 0, from: "/console/admin/operators/", walk: async () => {
  await click(page.locator("tr", { hasText: "carol" }).getByRole("link", { name: "Reset sign-in" }));
  await page.locator("input[name=confirm]").fill("carol");
  await page.locator("input[name=own_password], main input[type=password]").first().fill(password);
  await click(button("Reset sign-in"));
  await page.waitForURL(/admin\/operators\/$/);
  check("the resetter sees a link", await page.locator("code.secret").count() === 0);
  await colleague.goto(server + "/console/");
  check("the session of carol goes on", /sign-in/.test(colleague.url()));
} });

journeys.push({ name: "who did what", clicks: 3, searches: 0, walk: async () => {
  await page.goto(server + "/console/suppliers/EAST/runs/");
  await page.locator("tbody a").first().click();
  await link("Undo this run…").click();
  await page.locator("input[name=reason]").fill("the wrong book");
  await page.locator("input[name=confirm]").fill("EAST");
  await button(/^Undo \d+ accounts/).click();
  await page.locator("#run-undo", { hasText: "Finished" }).waitFor();
  await page.goto(server + "/console/");
  await click(link("Administration"));
  await click(link("Audit"));
  const rows = page.locator("tbody tr");
  const undone = rows.filter({ hasText: /60 accounts of/ }).filter({ hasText: "Account undone" });
  check("the undo of 60 accounts is not one line", await undone.count() === 1);
  await click(undone.locator("summary"));
  check("the line does not open", await undone.locator("li a").first().isVisible());
  const whole = await page.locator("tbody").innerText();
  for (const text of ["ada", "bob via command line", "auditor", "Role changed", "Run started", "Sign-in reset"]) check("the audit lacks " + text, whole.includes(text));
  check("the audit shows codes of people", !/operator:[a-z]/.test(whole));
  const role = await rows.filter({ hasText: "Role changed" }).first().innerText();
  check("a change of role lacks before and after: " + role, /support.*→.*auditor/s.test(role));
} });

for (const journey of journeys) {
  try {
    await page.goto(server + (journey.from ?? "/console/"));
    clicks = searches = 0;
    await journey.walk();
    check(`${journey.name}: ${clicks} clicks and ${searches} searches, at most ${journey.clicks} and ${journey.searches}`, clicks <= journey.clicks && searches <= journey.searches);
  } catch (error) {
    wrong.push(`${journey.name}: at ${page.url()}: ${String(error).slice(0, 600)}`);
  }
}
console.log(JSON.stringify({ wrong }));
await browser.close();
