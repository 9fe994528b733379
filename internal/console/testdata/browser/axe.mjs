// Checks pages with axe.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// judge loads axe into an isolated world, where the page's content security policy
// does not apply, and returns a function that checks the page as it looks now.
export async function judge(page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { expression: axe, contextId: executionContextId });
  return async () => {
    const outcome = await session.send("Runtime.evaluate", {
      contextId: executionContextId, awaitPromise: true, returnByValue: true,
      expression: `axe.run(document, { resultTypes: ["violations"], runOnly: ${JSON.stringify(standards)} }).then((r) => r.violations
        .map((v) => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")))`,
    });
    if (outcome.exceptionDetails) return ["axe failed: " + JSON.stringify(outcome.exceptionDetails).slice(0, 400)];
    return outcome.result.value;
  };
}
