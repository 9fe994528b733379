// Uses passkeys in a real browser with a virtual authenticator:
// node passkey.mjs CHROMIUM SERVER INVITATION PASSWORD
// It prints what went wrong.
import { chromium } from "playwright-core";
import { judge } from "./axe.mjs";

const [executablePath, server, invitation, password] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], timeout: 120_000 });
const context = await browser.newContext();
context.setDefaultTimeout(60_000);
const wrong = [];
const check = (what, ok) => { if (!ok) wrong.push(what); };
const page = await context.newPage();

// inspect checks the open page in both themes. visit.mjs cannot: passkeys need localhost.
const inspect = async () => {
  const verdict = await judge(page);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const one of await verdict()) wrong.push(`${colorScheme} ${page.url()}: ${one}`);
  }
};
page.on("pageerror", (error) => wrong.push(String(error)));
page.on("console", (message) => { if (/Content Security Policy/.test(message.text())) wrong.push(message.text()); });
const session = await context.newCDPSession(page);
await session.send("WebAuthn.enable");
const authenticator = await session.send("WebAuthn.addVirtualAuthenticator", {
  options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
});

await page.goto(server + invitation);
await page.locator("input[name=password]").fill(password);
await page.locator("input[name=again]").fill(password);
await page.locator("button.primary").click();
await page.waitForURL(server + "/console/**");

// Register one. A wrong password is not enough.
const add = async (typed) => {
  await page.goto(server + "/console/me/");
  await page.locator("form[action$='/passkeys/'] input[name=password]").fill(typed);
  await page.getByRole("button", { name: "Add a passkey" }).click();
};
await add("not the one at all");
await page.locator("[role=alert]:not([hidden])").first().waitFor();
await inspect();
await add(password);
await page.locator("form[data-passkey=create] input[name=name]").fill("laptop");
await inspect();
await page.getByRole("button", { name: "Create passkey" }).click();
await page.getByText("Passkey added.").waitFor();
await inspect();
check("the passkey is not listed", await page.locator("td", { hasText: "laptop" }).count() === 1);

const signOut = async () => {
  await page.locator("details.user-menu summary").click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/sign-in/);
};
const signIn = async () => {
  await page.goto(server + "/console/sign-in/?to=/console/me/");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
};

// Sign in with it, without name and password.
await signOut();
await inspect();
await signIn();
await page.waitForURL(server + "/console/me/");
check("somebody else is signed in", await page.locator("h1").innerText() === "ada");
await signOut();

// An answer works once: sent again, it is refused.
let sent = "";
page.on("request", (request) => { if (request.url().endsWith("/passkey/finish/")) sent = request.postData(); });
await signIn();
await page.waitForURL(server + "/console/me/");
await signOut();
const again = await page.request.post(server + "/console/sign-in/passkey/finish/", {
  data: sent, headers: { "Content-Type": "application/x-www-form-urlencoded", "Origin": server, "Sec-Fetch-Site": "same-origin" }, maxRedirects: 0,
});
check("an answer was accepted twice: " + again.status(), again.status() === 401);

// A device that does not check who holds it is refused.
await session.send("WebAuthn.setUserVerified", { authenticatorId: authenticator.authenticatorId, isUserVerified: false });
await signIn();
await page.locator("[role=alert]:not([hidden])").first().waitFor();
await session.send("WebAuthn.setUserVerified", { authenticatorId: authenticator.authenticatorId, isUserVerified: true });

// Remove it: the device still has it, and the server refuses it.
await signIn();
await page.waitForURL(server + "/console/me/");
await page.locator("form[action$='/passkeys/'] input[name=password]").fill(password);
await page.getByRole("button", { name: "Remove" }).click();
await page.getByText("Passkey removed.").waitFor();
await signOut();
await signIn();
await page.getByText("The passkey was not accepted").waitFor();

console.log(JSON.stringify({ wrong }));
await browser.close();
