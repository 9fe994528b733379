// Uses the console in a real browser:
// node visit.mjs CHROMIUM SERVER INVITATION SUPPORT PASSWORD PATHS [FOLDER]
// INVITATION and SUPPORT are the links of an operator and of support. PATHS is a
// JSON list of pages to check in both themes, and of addresses on a new server. With a FOLDER it saves screenshots
// there. It prints what went wrong and which pages axe has seen.
import { chromium } from "playwright-core";
import { createHmac } from "node:crypto";
import { judge } from "./axe.mjs";

const [executablePath, server, invitation, support, password, list, folder] = process.argv.slice(2);
const patience = 120_000; // milliseconds, for a busy machine
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], timeout: patience });
const wrong = [];
const inspected = []; // the method and path of every page that inspect has seen
const methods = new Map(); // by page, of the request that loaded it
const check = (what, ok) => { if (!ok) wrong.push(what); };

const watched = async (options) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, timezoneId: "Europe/London", locale: "en-GB", ...options });
  context.setDefaultTimeout(patience);
  context.on("request", (request) => { if (!request.url().startsWith(server) && !request.url().startsWith("data:")) wrong.push("a request left: " + request.url()); });
  context.on("page", (page) => {
    page.on("request", (request) => { if (request.isNavigationRequest() && request.frame() === page.mainFrame()) methods.set(page, request.method()); });
    page.on("pageerror", (error) => wrong.push(page.url() + ": " + error));
    page.on("console", (message) => { if (message.type() === "error" && !/Failed to load resource/.test(message.text())) wrong.push(page.url() + ": " + message.text()); });
  });
  return context;
};

// Sign in: accept an invitation, sign out, use a wrong password, sign in again.
const context = await watched({});
const page = await context.newPage();
await page.goto(server + invitation);
await inspect(page, "/console/welcome/");
await enter(page);
await page.locator("details.user-menu summary").click();
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

// Two-factor authentication: set it up, sign in with a code, turn it off with a recovery code.
await page.goto(server + "/console/me/");
await page.locator("form[action$='/second/'] input[name=password]").fill(password);
await page.getByRole("button", { name: "Set up" }).click();
await page.locator("svg.qr").waitFor();
await inspect(page, "/console/me/second/");
const secret = await page.locator("code.secret").innerText();
await page.locator("input[name=code]").fill(totp(secret, -1));
await page.getByRole("button", { name: "Turn on" }).click();
await page.locator("ul.codes li").first().waitFor();
await inspect(page, "/console/me/second/confirm/");
const recovery = await page.locator("ul.codes li").allInnerTexts();
check("there are no ten recovery codes", recovery.length === 10);
await page.getByRole("link", { name: "Done" }).click();
await inspect(page, "/console/me/on/");
await page.locator("details.user-menu summary").click();
await page.getByRole("button", { name: "Sign out" }).click();
await page.locator("input[name=name]").fill("ada");
await page.locator("input[name=password]").fill(password);
await page.locator("button.primary").click();
await page.locator("input[name=code]").waitFor();
await inspect(page, "/console/sign-in/code/");
await page.locator("input[name=password]").fill(password);
await page.locator("input[name=code]").fill(totp(secret, 0));
await page.locator("button.primary").click();
await page.waitForURL(server + "/console/");
await page.goto(server + "/console/me/");
await page.locator("form[action$='/second/'] input[name=password]").fill(password);
await page.locator("form[action$='/second/'] input[name=code]").fill(recovery[0]);
await page.getByRole("button", { name: "Turn off" }).click();
await page.getByText("Two-factor authentication is off.").waitFor();
await page.goto(server + "/console/admin/operators/sam/reset/");
await inspect(page, "/console/admin/operators/sam/reset/");
await page.goto(server + "/console/suppliers/EAST/runs/");

// A run: start it, wait for its end without a reload, undo it. The form is open
// because there was no run yet.
await page.locator("select[name=team]").selectOption("Night Team");
await page.getByRole("button", { name: "Start run" }).click();
await page.waitForURL(/runs\/R-/);
await page.locator("#run-progress .state", { hasText: "finished" }).waitFor();
await page.getByText("Undo this run").click();
await page.waitForURL(/\/undo\//);
const buckets = await page.locator("#undo-forecast .stats").innerText();
check("the undo page has no forecast: " + buckets, /\d+\s+will be undone\s+0\s+will be kept\s+0\s+already undone/.test(buckets));
await page.locator("input[name=reason]").fill("the wrong book");
await page.locator("input[name=confirm]").fill("east");
await page.getByRole("button", { name: /^Undo \d+ accounts/ }).click();
await page.locator("[role=alert]", { hasText: "Type EAST to confirm" }).waitFor();
check("the reason is forgotten", await page.locator("input[name=reason]").inputValue() === "the wrong book");
await page.locator("input[name=confirm]").fill("EAST");
await page.getByRole("button", { name: /^Undo \d+ accounts/ }).click();
await page.locator("#run-undo", { hasText: "Finished" }).waitFor();

// An account: search for it; its customers are masked until they are revealed.
await page.goto(server + "/console/suppliers/NORTH/accounts/?state=imported");
const number = await page.locator("tbody td:nth-child(2)").first().innerText();
await page.goto(server + "/console/search/");
await page.locator(".search input").pressSequentially(number.slice(0, 9));
await page.locator("#found tbody tr").first().waitFor();
await page.locator("#found tbody a").first().click();
await page.waitForURL(/console\/accounts\//);
check("customers are not masked", /•/.test(await page.locator("section[aria-labelledby=customers]").innerText()));
await page.locator("summary", { hasText: "Reveal personal data" }).click();
await page.locator("details[open] input[name=reason]").fill("the customer called");
await page.getByRole("button", { name: "Reveal", exact: true }).click();
await page.getByText("visible until you leave").waitFor();
check("revealed data is masked", !/•/.test(await page.locator("section[aria-labelledby=customers]").innerText()));

// An account full of hostile text, revealed.
await page.goto(server + "/console/accounts/NORTH/spite/");
await page.locator("summary", { hasText: "Reveal personal data" }).click();
await page.locator("details[open] input[name=reason]").fill("<img src=x onerror=window.hacked=1>");
await page.getByRole("button", { name: "Reveal", exact: true }).click();
await page.getByText("visible until you leave").waitFor();
check("the hostile account shows nothing", /onerror/.test(await page.locator("main").innerText()));
check("hostile text ran when it was revealed", !(await page.evaluate(() => window.hacked)));

// A staged account: a dry run with one click, whose result is in the timeline.
await page.goto(server + "/console/suppliers/EAST/accounts/?state=staged");
await page.locator("tbody a").first().click();
await page.locator("form[action$='/dry-run/'] select").selectOption("Night Team");
await page.getByRole("button", { name: "Dry run" }).click();
await page.locator("section[aria-labelledby=timeline]", { hasText: /Dry run (passed|failed)/ }).waitFor();

// A list that grows reports it and does not change; the overview updates by itself.
await page.emulateMedia({ reducedMotion: "reduce" });
const other = await context.newPage();
await other.goto(server + "/console/suppliers/EAST/accounts/?state=staged");
const grown = await context.newPage();
await grown.goto(server + "/console/suppliers/EAST/accounts/?state=skipped");
await other.locator("tbody a").first().click();
await other.locator("summary", { hasText: "Skip this account" }).click();
await other.getByRole("button", { name: "Skip", exact: true }).click();
await other.getByText("Account skipped.").waitFor();
await grown.locator("#new-rows", { hasText: "1 new" }).waitFor();
check("a list added rows by itself", await grown.locator("tbody tr").count() === 0);
await grown.locator("#new-rows").click();
await grown.locator("tbody tr").waitFor();
await page.goto(server + "/console/");
await page.locator("#s-EAST a.code").focus();
await grown.locator("tbody a").first().click();
await grown.locator("summary", { hasText: "Unskip this account" }).click();
await grown.getByRole("button", { name: "Unskip" }).click();
await page.locator("#s-EAST .more", { hasText: "skipped" }).waitFor({ state: "detached" });
check("a live update takes the focus away", await page.evaluate(() => document.activeElement.textContent) === "EAST");
await other.close();
await grown.close();

// Keyboard shortcuts.
await page.goto(server + "/console/");
await page.keyboard.press("?");
check("? shows no help", await page.locator("#keys").evaluate((dialog) => dialog.open));
await page.keyboard.press("Escape");
await page.keyboard.press("j");
check("j selects no row", await page.locator(".suppliers .selected").count() === 1);
await page.keyboard.press("Control+k");
await page.locator("#palette-items a").first().waitFor();
await inspect(page, "/console/palette/");
await page.keyboard.press("Control+k");
await page.keyboard.type("north reconc");
await page.locator("#palette-items a", { hasText: "NORTH: Reconciliation" }).waitFor();
await page.keyboard.press("ArrowDown");
check("the arrow does not reach the results", await page.evaluate(() => document.activeElement.matches("#palette-items a")));
await page.keyboard.press("Escape");
check("Escape does not close the palette", !(await page.locator("#palette").evaluate((dialog) => dialog.open)));
await page.keyboard.press("Control+k");
await page.keyboard.type(number.slice(0, 9));
await page.locator("#palette-items a", { hasText: "Account" }).first().waitFor();
await page.keyboard.press("Enter");
await page.waitForURL(/console\/accounts\//);

// On paper: an account on at most two pages, a reconciliation on one.
const sheets = async () => (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
const account = await sheets();
check(`an account prints on ${account} pages`, account >= 1 && account <= 2);
await page.goto(server + "/console/suppliers/NORTH/reconciliation/");
const books = await sheets();
check(`a reconciliation prints on ${books} pages`, books === 1);

await page.goto(server + "/console/");
await page.keyboard.press("/");
check("/ does not search", await page.evaluate(() => document.activeElement.name) === "q");
await page.keyboard.press("Escape");
await page.keyboard.press("g");
await page.keyboard.press("a");
await page.waitForURL(/admin/);

// Every page in both themes: no axe violation, not wider than a phone, and
// no imported text runs as a script.
const pages = JSON.parse(list).filter((path) => path.startsWith("/"));
for (const path of pages) {
  await page.goto(server + path);
  await inspect(page, path);
  // Forms that open are inspected together.
  const closed = page.locator("main details:not([open]):has(form)");
  if (await closed.count() === 0) continue;
  await closed.evaluateAll((all) => all.forEach((one) => { one.open = true; }));
  await inspect(page, path, "open-");
}

// The pages of a server that nobody can sign in to yet.
const first = await (await browser.newContext({ locale: "en-GB" })).newPage();
for (const address of JSON.parse(list).filter((path) => !path.startsWith("/"))) {
  await first.goto(address);
  await inspect(first, new URL(address).pathname.replace(/set-up.*/, "set-up"), "new-");
}

// Support sees the same pages without actions.
const reading = await (await watched({})).newPage();
await reading.goto(server + support);
await enter(reading);
for (const path of pages.filter((path) => /settings|Acme|vendors\/.|operators|runs\/$|accounts\/NORTH\/A-1000001/.test(path))) {
  await reading.goto(server + path);
  check("support sees an action on " + path, await reading.locator("main form[method=post]:not([action$='/reveal/']):not([action$='/check/'])").count() === 0);
  if (folder) await inspect(reading, path, "support-");
}

// Every page can be read without JavaScript.
const plain = await watched({ javaScriptEnabled: false, storageState: await context.storageState() });
const reader = await plain.newPage();
for (const path of pages) {
  await reader.goto(server + path);
  check("empty without JavaScript: " + path, (await reader.locator("main").innerText()).length > 20);
}
// So do links and search.
await reader.goto(server + "/console/");
await reader.locator(".suppliers a.code").first().click();
await reader.locator(".tabs a", { hasText: "Accounts" }).click();
await reader.locator("tbody a").first().click();
check("without JavaScript an account cannot be opened", /\/console\/accounts\//.test(reader.url()));
await reader.locator(".search input").fill("A-1000");
await reader.locator(".search input").press("Enter");
check("without JavaScript the search finds nothing", await reader.locator("#found tbody tr").count() > 0);

console.log(JSON.stringify({ wrong, inspected }));
await browser.close();

function name(path) { return path.replace("/console/", "").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "") || "overview"; }

// totp computes the code of a secret, some steps of 30 seconds from now.
function totp(secret, steps) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const hash = createHmac("sha1", key).update(counter).digest();
  return String((hash.readUInt32BE(hash.at(-1) & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

// enter accepts an invitation.
async function enter(page) {
  await page.locator("input[name=password]").fill(password);
  await page.locator("input[name=again]").fill(password);
  await page.locator("button.primary").click();
  await page.waitForURL(server + "/console/");
}

// inspect checks the open page in both themes and at phone width, and saves
// screenshots at the widths of a screen, a tablet and a phone.
async function inspect(page, path, prefix = "") {
  inspected.push(`${methods.get(page) ?? "GET"} ${new URL(page.url()).pathname}`);
  const verdict = await judge(page);
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    for (const one of await verdict()) wrong.push(`${theme} ${prefix}${path}: ${one}`);
    for (const width of folder ? [1440, 1024, 390] : []) {
      await page.setViewportSize({ width, height: 860 });
      await page.screenshot({ path: `${folder}/${prefix}${name(path)}-${width}-${theme}.png`, fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 360, height: 700 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(`${path} is ${wide} px wider than a phone`, wide <= 0);
  await page.setViewportSize({ width: 1280, height: 860 });
  check("hostile text ran on " + path, !(await page.evaluate(() => window.hacked)));
}
