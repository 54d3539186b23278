import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { join } from "node:path"
import { ERROR_AREAS, ERROR_CODES, type ErrorCodeEntry } from "@toolwright/toolbox"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const packages = join(root, "packages")
const CATALOGUE = /^toolbox\/src\/model\/data\/(tool-|runtime-)?error-codes\.ts$/

const sources = readdirSync(packages, { recursive: true, encoding: "utf8" })
  .filter((file) => /^[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$|\/src\/.*(testing|fixtures)\//.test(file))
  .filter((file) => !CATALOGUE.test(file))
  .map((file) => ({ file, text: readFileSync(join(packages, file), "utf8") }))

/** Where a code stands: as the `code` of something, as what an error is made with, as what a code is compared with. */
const PLACES = [
  /\bcode: "([A-Z][A-Z0-9_]+)"/g,
  /\bnew \w*(?:Error|Refused|Failure)\(\s*"([A-Z][A-Z0-9]*_[A-Z0-9_]+|USAGE|TIMEOUT|CANCELLED)"/g,
  /\bcode\b\s*[!=]==\s*"([A-Z][A-Z0-9_]+)"/g,
]

/** Codes of others: of the system, of Node and of what speaks HTTP for it, of a service that is asked. */
const ofOthers = (code: string): boolean =>
  Object.hasOwn(constants.errno, code) ||
  /^(ERR|UND_ERR)_/.test(code) ||
  ["ENOTFOUND", "SUBSCRIPTION_TOKEN_INVALID"].includes(code)

test("no code is used that the catalogue lacks", () => {
  const unknown = sources.flatMap(({ file, text }) =>
    PLACES.flatMap((place) => [...text.matchAll(place)].map(([, code]) => code!))
      .filter((code) => !Object.hasOwn(ERROR_CODES, code) && !ofOthers(code))
      .map((code) => `${file}: ${code}`),
  )
  expect(unknown).toEqual([])
})

test("the catalogue has no code that nothing gives", () => {
  const all = sources.map(({ text }) => text).join("\n")
  expect(Object.keys(ERROR_CODES).filter((code) => !all.includes(`"${code}"`) && !all.includes(`${code}:`))).toEqual([])
})

test("a code stands in one area alone", () => {
  const all = Object.values(ERROR_AREAS).flatMap((area) => Object.keys(area))
  expect(all.length).toBe(new Set(all).size)
})

const row = ([code, entry]: [string, ErrorCodeEntry]): string =>
  `| \`${code}\` | ${entry.means} | ${entry.exit ?? 1} | ${entry.status ?? ""} | ` +
  `${entry.retryable === true ? "yes" : ""} |`

test("docs/errors.md is the catalogue", () => {
  const ofServer = Object.entries<ErrorCodeEntry>(ERROR_CODES)
    .filter(([, entry]) => entry.ofServer === true)
    .map(([code]) => `\`${code}\``)
    .join(", ")
  const page = [
    "# Error codes",
    "",
    "Every error that is thrown (`ToolwrightError`) and every failed call (`result.error`) has a `code`, a " +
      "`message` and mostly a `hint`. Codes stay; messages may change.",
    "Exit: how the command line ends. Status: of an HTTP request that ends in it; a failed call is a result, " +
      `with status 200, unless its code speaks of the server (${ofServer}).`,
    "Again: whether the same call may succeed later. Programs find this page as `ERROR_CODES`. Generated: `npm " +
      "run generate`.",
    "",
    ...Object.entries(ERROR_AREAS).flatMap(([area, codes]) => [
      `## ${area}`,
      "",
      "| code | means | exit | status | again |",
      "| --- | --- | --- | --- | --- |",
      ...Object.entries(codes)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(row),
      "",
    ]),
  ].join("\n")
  const file = join(root, "docs/errors.md")
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, page)
  expect(readFileSync(file, "utf8")).toBe(page)
})
