import { NODE_WITNESS } from "./shown.ts"
import { reportOf, markedLines, type TestFramework } from "./report.ts"

/** The reporter that runs inside `node --test`: one marked JSON line per test, suites left out. */
const REPORTER = `
const marker = process.env.TOOLWRIGHT_TEST_MARKER
const line = (event) => "\\n" + marker + JSON.stringify(event) + "\\n"
export default async function* (source) {
  for await (const { type, data } of source) {
    if (type === "test:stdout" || type === "test:stderr") yield data.message
    if (type === "test:summary" && !data.file) yield line({ event: "end" })
    if (type !== "test:pass" && type !== "test:fail") continue
    const details = data.details ?? {}
    const error = details.error
    const isSuite = details.type === "suite" || (error && error.failureType === "subtestsFailed")
    const where = { name: data.name, file: data.file, line: data.line }
    const skipped = data.skip !== undefined || data.todo !== undefined
    if (type === "test:pass") { if (!isSuite) yield line({ event: skipped ? "skip" : "pass", ...where }) }
    else if (!isSuite) {
      const cause = error && error.cause && typeof error.cause === "object" ? error.cause : error
      const message = String((cause && cause.message) || (error && error.message) || error)
      yield line({ event: data.todo !== undefined ? "skip" : "fail", ...where, message, stack: cause && cause.stack })
    }
  }
  yield line({ event: "end" })
}
`

/** Node takes names of files for patterns. */
function literal(file: string): string {
  return file.replace(/[*?[\]{}()!+@\\]/gu, "\\$&")
}

/** Node's own test runner (`node --test`). */
export const nodeTest: TestFramework = {
  argv({ node, files, name }) {
    const reporter = `data:text/javascript;base64,${Buffer.from(REPORTER).toString("base64")}`
    const pattern = name === undefined ? [] : [`--test-name-pattern=${name}`]
    return [
      node,
      `--import=${NODE_WITNESS}`,
      "--test",
      `--test-reporter=${reporter}`,
      "--test-reporter-destination=stdout",
      ...pattern,
      ...files.map(literal),
    ]
  },
  parse: ({ stdout }, { root }, marker) => reportOf(markedLines(stdout, marker), root),
}
