import type { JsonObject } from "@toolwright/toolbox"
import { packageJson } from "./package-json.ts"

/** A call that a request asks for. */
export interface ExpectedCall {
  name: string
  arguments: JsonObject
}

/** A request in plain English, and the calls that it asks for, in their order. */
export interface DemoRequest {
  text: string
  calls: readonly ExpectedCall[]
}

/** The mark that is looked for; in two parts, since here it marks nothing. */
const MARK = `${"TO"}${"DO"}`

/** A small project with an obvious mistake, which its test finds. */
export const PROJECT: Readonly<Record<string, string>> = {
  "README.md": `# Bill

Adds up what a table has ordered.

    import { total } from "./src/bill.js"
    total([2.5, 3, 4])

Run the tests with \`npm test\`.
`,
  "package.json": packageJson("bill"),
  "src/bill.js": `// ${MARK}: say in which currency
export function add(a, b) {
  return a - b
}

// ${MARK}: leave out what was not served
export function total(prices) {
  return prices.reduce(add, 0)
}
`,
  "test/bill.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"
import { total } from "../src/bill.js"

test("adds up the prices", () => {
  assert.equal(total([2, 3, 4]), 9)
})
`,
}

const TEST: ExpectedCall = { name: "test", arguments: {} }

/**
 * What is asked of the model, one after the other. The person says what to change: the model is too small to find it.
 */
export const REQUESTS: readonly DemoRequest[] = [
  {
    text: "show me the first 5 lines of README.md",
    calls: [{ name: "read_text_file", arguments: { path: "README.md", head: 5 } }],
  },
  { text: `find ${MARK} in src`, calls: [{ name: "search_grep", arguments: { pattern: MARK, path: "src" } }] },
  {
    text: 'create a folder notes and put "ask for the currency" in notes/plan.txt',
    calls: [
      { name: "create_directory", arguments: { path: "notes" } },
      { name: "write_file", arguments: { path: "notes/plan.txt", content: "ask for the currency" } },
    ],
  },
  { text: "run the tests", calls: [TEST] },
  {
    text: 'replace "a - b" with "a + b" in src/bill.js',
    calls: [{ name: "edit_file", arguments: { path: "src/bill.js", old_text: "a - b", new_text: "a + b" } }],
  },
  { text: "run the tests", calls: [TEST] },
  {
    text: 'commit the changes with the message "fix add"',
    calls: [{ name: "git_commit", arguments: { message: "fix add" } }],
  },
]
