// Opens the reference page in a real browser, reads what a visitor reads, and
// tries every call with what is filled in:
// node visit.mjs CHROMIUM SERVER TOKEN
// It prints one JSON object: the complaints of the browser, and for each call
// what was filled in, what was shown as answers, and what trying it gave.
import { chromium } from "playwright-core";

const [executablePath, server, token] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
page.setDefaultTimeout(120000);
const complaints = [];
page.on("pageerror", (error) => complaints.push(String(error)));
page.on("console", (message) => {
  if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
});
await page.goto(`${server}/docs/`);
await page.locator("rapi-doc #auth input").first().fill(token);
await page.locator("rapi-doc #auth button", { hasText: "SET" }).first().click();

const sections = await page.locator("rapi-doc [id^='put-/'], rapi-doc [id^='post-/'], rapi-doc [id^='get-/']")
  .evaluateAll((found) => found.map((each) => each.id));
// What is put comes first: the page shows below it how it is read.
sections.sort((a, b) => b.startsWith("put-") - a.startsWith("put-"));
const calls = {};
for (const id of sections) {
  const section = page.locator(`rapi-doc [id="${id}"]`);
  const filled = await section.locator("api-request textarea, api-request input.request-param")
    .evaluateAll((inputs) => inputs.map((input) => input.value).join("\n"));
  const answers = await section.locator("api-response").evaluate((element) => {
    const read = (node) => [...node.childNodes].map((child) => {
      if (child.nodeType === Node.TEXT_NODE) return child.textContent;
      if (child.nodeName === "STYLE") return "";
      return (child.shadowRoot ? read(child.shadowRoot) : "") + read(child);
    }).join("");
    return read(element.shadowRoot);
  });
  const answered = page.waitForResponse((response) => response.request().resourceType() === "fetch");
  await section.locator("api-request button.m-btn", { hasText: "TRY" }).click();
  const response = await answered;
  // The page says so too, beside the button.
  await page.waitForFunction(({ id, status }) => {
    const request = document.querySelector("rapi-doc").shadowRoot.getElementById(id).querySelector("api-request");
    return new RegExp(`Response Status:[^0-9]*${status}`).test(request.shadowRoot.textContent);
  }, { id, status: response.status() });
  calls[id] = { filled, answers, status: response.status(), url: response.url() };
}
console.log(JSON.stringify({ complaints, calls }));
await browser.close();
