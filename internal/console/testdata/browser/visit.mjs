// Walks through the console in a real browser, as people do:
// node visit.mjs CHROMIUM SERVER INVITATION SUPPORT PASSWORD PATHS [FOLDER]
// INVITATION and SUPPORT are links of an operator and of support. PATHS is a
// JSON list of pages to look at in light and dark. With a FOLDER it
// leaves a picture of each there. It prints one JSON object: what went wrong.
import { chromium } from "playwright-core";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const [executablePath, server, invitation, support, password, list, folder] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const patience = 120_000; // milliseconds, for a busy machine
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], timeout: patience });
const wrong = [];
const check = (what, ok) => { if (!ok) wrong.push(what); };

const watched = async (options) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, timezoneId: "Europe/London", locale: "en-GB", ...options });
  context.setDefaultTimeout(patience);
  context.on("request", (request) => { if (!request.url().startsWith(server) && !request.url().startsWith("data:")) wrong.push("a request left: " + request.url()); });
  context.on("page", (page) => {
    page.on("pageerror", (error) => wrong.push(page.url() + ": " + error));
    page.on("console", (message) => { if (message.type() === "error" && !/Failed to load resource/.test(message.text())) wrong.push(page.url() + ": " + message.text()); });
  });
  return context;
};

// Signing in: a link, a password of one's own, out, a wrong one, in again.
const context = await watched({});
const page = await context.newPage();
await page.goto(server + invitation);
await inspect(page, "/console/welcome/");
await enter(page);
await page.locator("details.who summary").click();
await page.getByRole("button", { name: "Sign out" }).click();
await page.waitForURL(/sign-in/);
await page.goto(server + "/console/suppliers/EAST/runs/");
await inspect(page, "/console/sign-in/");
await page.locator("input[name=name]").fill("ada");
await page.locator("input[name=password]").fill("not the one at all");
await page.locator("button.primary").click();
await page.locator("[role=alert]").waitFor();
check("the name is forgotten after a wrong password", await page.locator("input[name=name]").inputValue() === "ada");
await page.locator("input[name=password]").fill(password);
await page.locator("button.primary").click();
await page.waitForURL(/suppliers\/EAST\/runs/);

// A run: started by its form, seen to its end without a reload, undone.
// The form stands open where there was no run yet.
await page.locator("select[name=team]").selectOption("Night Team");
await page.getByRole("button", { name: "Start the run" }).click();
await page.waitForURL(/runs\/R-/);
await page.locator("#run-now .state", { hasText: "finished" }).waitFor();
await page.getByText("Undo this run").click();
await page.waitForURL(/\/undo\//);
const buckets = await page.locator("#undo-forecast .figures-row").innerText();
check("no figures stand before an undo: " + buckets, /\d+\s+will be taken back\s+0\s+will be kept\s+0\s+already taken back/.test(buckets));
await page.locator("input[name=reason]").fill("the wrong book");
await page.locator("input[name=confirm]").fill("east");
await page.getByRole("button", { name: /^Undo \d+ accounts/ }).click();
await page.locator("[role=alert]", { hasText: "Type EAST to confirm" }).waitFor();
check("the reason is forgotten", await page.locator("input[name=reason]").inputValue() === "the wrong book");
await page.locator("input[name=confirm]").fill("EAST");
await page.getByRole("button", { name: /^Undo \d+ accounts/ }).click();
await page.locator("#run-undo", { hasText: "Ended" }).waitFor();

// An account: found as one types, its people masked until they are revealed.
await page.goto(server + "/console/suppliers/NORTH/accounts/?state=imported");
const number = await page.locator("tbody td:nth-child(2)").first().innerText();
await page.goto(server + "/console/search/");
await page.locator(".search input").pressSequentially(number.slice(0, 9));
await page.locator("#found tbody tr").first().waitFor();
await page.locator("#found tbody a").first().click();
await page.waitForURL(/console\/accounts\//);
check("people are not masked", /•/.test(await page.locator("section[aria-labelledby=people]").innerText()));
await page.locator("summary", { hasText: "Reveal personal data" }).click();
await page.locator("details[open] input[name=reason]").fill("the customer called");
await page.getByRole("button", { name: "Reveal on this page" }).click();
await page.getByText("shown until you leave").waitFor();
check("what is revealed is masked", !/•/.test(await page.locator("section[aria-labelledby=people]").innerText()));

// One whose every text is hostile, with nothing masked.
await page.goto(server + "/console/accounts/NORTH/spite/");
await page.locator("summary", { hasText: "Reveal personal data" }).click();
await page.locator("details[open] input[name=reason]").fill("<img src=x onerror=window.hacked=1>");
await page.getByRole("button", { name: "Reveal on this page" }).click();
await page.getByText("shown until you leave").waitFor();
check("a hostile account shows nothing", /onerror/.test(await page.locator("main").innerText()));
check("hostile text ran when it was revealed", !(await page.evaluate(() => window.hacked)));

// One that waits: tried at one click, and what came of it is in its history.
await page.goto(server + "/console/suppliers/EAST/accounts/?state=pending");
await page.locator("tbody a").first().click();
await page.locator("form[action$='/dry-run/'] select").selectOption("Night Team");
await page.getByRole("button", { name: "Dry run" }).click();
await page.locator("section[aria-labelledby=timeline]", { hasText: /A dry run (passed|failed)/ }).waitFor();

// A list that grows says so and stays as it is; the overview counts by itself.
await page.emulateMedia({ reducedMotion: "reduce" });
const other = await context.newPage();
await other.goto(server + "/console/suppliers/EAST/accounts/?state=pending");
const grown = await context.newPage();
await grown.goto(server + "/console/suppliers/EAST/accounts/?state=skipped");
await other.locator("tbody a").first().click();
await other.locator("summary", { hasText: "Skip this account" }).click();
await other.getByRole("button", { name: "Skip" }).click();
await other.getByText("is marked as skipped").waitFor();
await grown.locator("#list-news", { hasText: "1 new" }).waitFor();
check("a list that grew changed by itself", await grown.locator("tbody tr").count() === 0);
await grown.locator("#list-news").click();
await grown.locator("tbody tr").waitFor();
await page.goto(server + "/console/");
await page.locator("#s-EAST a.code").focus();
await grown.locator("tbody a").first().click();
await grown.locator("summary", { hasText: "Take the skip mark away" }).click();
await grown.getByRole("button", { name: "Unskip" }).click();
await page.locator("#s-EAST .more", { hasText: "skipped" }).waitFor({ state: "detached" });
check("what counts by itself takes the focus away", await page.evaluate(() => document.activeElement.textContent) === "EAST");
await other.close();
await grown.close();

// Keys.
await page.goto(server + "/console/");
await page.keyboard.press("?");
check("? shows no help", await page.locator("#keys").evaluate((dialog) => dialog.open));
await page.keyboard.press("Escape");
await page.keyboard.press("j");
check("j goes to no row", await page.locator(".suppliers .at").count() === 1);
await page.keyboard.press("/");
check("/ does not search", await page.evaluate(() => document.activeElement.name) === "q");
await page.keyboard.press("Escape");
await page.keyboard.press("g");
await page.keyboard.press("a");
await page.waitForURL(/admin/);

// Every page, light and dark: nothing serious for axe, nothing wider than a
// phone, nothing of what was imported runs. Each is opened once, and changes its
// looks as the reader's system does.
for (const path of JSON.parse(list)) {
  await page.goto(server + path);
  await inspect(page, path);
}

// Support sees the same without the acts.
const reading = await (await watched({})).newPage();
await reading.goto(server + support);
await enter(reading);
for (const path of JSON.parse(list).filter((path) => /settings|Acme|vendors\/.|operators|runs\/$|accounts\/NORTH\/A-1000001/.test(path))) {
  await reading.goto(server + path);
  check("support is offered an act on " + path, await reading.locator("main form[method=post]:not([action$='/reveal/'])").count() === 0);
  if (folder) await inspect(reading, path, "support-");
}

// Without JavaScript everything can be read.
const plain = await watched({ javaScriptEnabled: false, storageState: await context.storageState() });
const reader = await plain.newPage();
for (const path of JSON.parse(list)) {
  await reader.goto(server + path);
  check("without JavaScript there is nothing on " + path, (await reader.locator("main").innerText()).length > 20);
}
// Lists lead on and menus open without it, too.
await reader.goto(server + "/console/");
await reader.locator(".suppliers a.code").first().click();
await reader.locator(".tabs a", { hasText: "Accounts" }).click();
await reader.locator("tbody a").first().click();
check("without JavaScript nobody gets down to an account", /\/console\/accounts\//.test(reader.url()));
await reader.locator(".search input").fill("A-1000");
await reader.locator(".search input").press("Enter");
check("without JavaScript nothing is found", await reader.locator("#found tbody tr").count() > 0);

console.log(JSON.stringify(wrong));
await browser.close();

function name(path) { return path.replace("/console/", "").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "") || "overview"; }

// enter chooses a password by invitation.
async function enter(page) {
  await page.locator("input[name=password]").fill(password);
  await page.locator("input[name=again]").fill(password);
  await page.locator("button.primary").click();
  await page.waitForURL(server + "/console/");
}

// inspect looks at the page that is open in light and dark and as wide as a
// phone, and leaves pictures.
async function inspect(page, path, prefix = "") {
  const verdict = await judge(page);
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    for (const one of await verdict()) wrong.push(`${theme} ${prefix}${path}: ${one}`);
    if (folder) await page.screenshot({ path: `${folder}/${prefix}${name(path)}-${theme}.png`, fullPage: true });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 360, height: 700 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(`${path} is ${wide} px wider than a phone`, wide <= 0);
  if (folder) await page.screenshot({ path: `${folder}/${prefix}${name(path)}-phone.png` });
  await page.setViewportSize({ width: 1280, height: 860 });
  check("hostile text ran on " + path, !(await page.evaluate(() => window.hacked)));
}

// judge puts axe into a world of its own, which the policy of the page does not
// bind, and gives what judges the page as it looks at the moment, by all rules.
async function judge(page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { expression: axe, contextId: executionContextId });
  return async () => {
    const told = await session.send("Runtime.evaluate", {
      contextId: executionContextId, awaitPromise: true, returnByValue: true,
      expression: `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
        .map((v) => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")))`,
    });
    if (told.exceptionDetails) return ["axe failed: " + JSON.stringify(told.exceptionDetails).slice(0, 400)];
    return told.result.value;
  };
}
