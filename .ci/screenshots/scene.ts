/** A folder with a failing test, and what a model says in it: what the pictures of the console are taken of. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

const FILES: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n`,
  "toolwright.yaml": `permissions:
  ask: [file_replace]
model:
  prices: { "qwen2.5-coder:7b": { input: 0.4, output: 1.2 } }
agents:
  define:
    reviewer-of-prices: { from: assistant, description: Reviews how prices are computed }
    finder: { from: assistant, description: Finds where something is done }
    lead: { from: assistant, description: Has others look and sums it up, tools: { agents: [reviewer-of-prices, finder] } }
`,
  "src/price.js": `/** What an order costs, in cents. */
export function priceOf(items, discount = 0) {
  const sum = items.reduce((total, { cents, count }) => total + cents * count, 0)
  return Math.round(sum * (1 + discount))
}
`,
  "test/price.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"
import { priceOf } from "../src/price.js"

const ITEMS = [{ cents: 500, count: 2 }, { cents: 250, count: 4 }]

test("an order costs what its items cost", () => assert.equal(priceOf(ITEMS), 2000))
test("a discount makes it cheaper", () => assert.equal(priceOf(ITEMS, 0.1), 1800))
`,
  "README.md": "# Shop\n\nPrices of orders.\n",
}

const call = (name: string, args: object, says: string, ms = 120): object => ({
  reply: {
    text: says,
    calls: [{ name, arguments: args }],
    usage: { inputTokens: 1400 + says.length, outputTokens: 40 },
    delayMs: ms,
  },
})
const say = (text: string, ms = 200): object => ({
  reply: { text, usage: { inputTokens: 1900, outputTokens: Math.ceil(text.length / 4) }, delayMs: ms },
})

/** In the order in which runs ask: the run that mends, its branch, the chat, and the tasks of the plan. */
const STEPS = [
  call("test", {}, "I run the tests first."),
  call("search_grep", { pattern: "discount" }, "A discount is wrong. Where is it used?"),
  call("file_read", { path: "src/prices.js" }, ""),
  call("file_read", { path: "src/price.js" }, "The file is called otherwise."),
  call(
    "file_replace",
    { path: "src/price.js", old_text: "1 + discount", new_text: "1 - discount" },
    "A discount is added where it has to be taken away.",
    400,
  ),
  call("test", {}, "Now the tests again."),
  say("`priceOf` added the discount to the sum. It is taken away now, and both tests pass."),
  call("file_read", { path: "src/price.js" }, "I look at the file.", 300),
  say(
    "It adds up cents times count of every item, takes the discount away as a share of that sum, and rounds to " +
      "whole cents.",
  ),
  call("ask_finder", { task: "Where may rounding go wrong in src/price.js?" }, "I ask where to look."),
  call("search_grep", { pattern: "Math.round" }, "I look for places that round."),
  say("Only `priceOf` rounds, once, at its end."),
  call("ask_reviewer_of_prices", { task: "Review src/price.js" }, "And have it reviewed."),
  call("file_read", { path: "src/price.js" }, ""),
  say("The sum is rounded once, after the discount: as it should be."),
  say("Both agree: prices are rounded once, at the end."),
]

/** @returns the folder */
export function makeScene(): string {
  const folder = join(mkdtempSync(join(tmpdir(), "scene-")), "shop")
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  writeFileSync(join(folder, "../play.json"), JSON.stringify({ model: "qwen2.5-coder:7b", steps: STEPS }))
  return folder
}

/** A plan, whose tasks wait until it is too late for a picture: what was done, and what waits for what. */
export const PLAN = [
  { name: "prices", input: "Write src/price.js: what an order costs", after: [] },
  { name: "stock", input: "Write src/stock.js: what is there", after: [] },
  { name: "cart", input: "Write src/cart.js: items of an order", after: ["prices", "stock"] },
  { name: "orders", input: "Write src/order.js: orders from carts", after: ["cart"] },
  { name: "invoice", input: "Write src/invoice.js: an order as text", after: ["cart", "prices"] },
  { name: "review", input: "Review all of it", after: ["orders", "invoice"] },
]
