import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const SCHEMA =
  '{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1}},"required":["city"]}'

test("a schema becomes GBNF, which the checker finds nothing against", async () => {
  const cwd = folderWith({ "schema.json": SCHEMA })
  const { code, stdout } = await cli(["grammar", "schema.json"], { cwd })
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^root ::= "\{" ws "\\"city\\"" ws ":" ws string/)])
  writeFileSync(join(cwd, "schema.gbnf"), stdout)
  expect(await here(["grammar", "check", "schema.gbnf"], { cwd })).toMatchObject({
    code: 0,
    stdout: "schema.gbnf: no mistakes\n",
  })
  expect(await here(["grammar", "check", "-"], { stdin: 'root ::= "a" | \n  [b' })).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/2/),
  })
})

test("a refused schema tells its keyword, and what to do", async () => {
  const stdin = '{"properties":{"a":{"pattern":"(a)\\\\1"}}}'
  expect(await here(["grammar", "-", "--format", "summary"], { stdin })).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^refused\n {2}#\/properties\/a pattern: .*back-references/),
  })
  expect(await here(["grammar", "-"], { stdin })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/#\/properties\/a pattern[^]*relaxed/),
  })
  expect(await here(["grammar", "-", "--format", "summary", "--relaxed"], { stdin })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^relaxed\n/),
  })
})

test("lines of schemas and instances are answered line by line, whatever stands in them", async () => {
  const lines = [
    JSON.stringify({ schema: SCHEMA, instances: ['{"days":1,"city":"Bern"}', '{"days":0,"city":"Bern"}', "not json"] }),
    JSON.stringify({ schema: { $ref: "https://example.com/x" }, instances: ["1"] }),
    "no question at all",
    JSON.stringify({ schema: "{", instances: [] }),
    JSON.stringify({ schema: true, instances: ["[1, {}]"] }),
  ]
  const { code, stdout } = await cli(["grammar", "check", "--jsonl"], { stdin: `${lines.join("\n")}\n` })
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { status: string; reasons: string[]; accepted: boolean[] })
  expect(code).toBe(0)
  expect(answers.map(({ status, accepted }) => [status, accepted])).toEqual([
    ["exact", [true, false, false]],
    ["refused", [false]],
    ["refused", []],
    ["refused", []],
    ["exact", [true]],
  ])
  expect(answers[1]!.reasons[0]).toMatch(/^# \$ref: .*leads out of the schema/)
})

test("patterns that together need too many states are refused, and the batch goes on", async () => {
  const every = (count: number) => `^(a{${count}})*$`
  const [p, q, r] = [every(97), every(101), every(103)]
  const schemas = [
    { type: "string", allOf: [{ pattern: p }, { pattern: q }, { pattern: r }] },
    { type: "object", patternProperties: { [p]: true, [q]: { type: "null" }, [r]: { type: "string" } } },
    { type: "object", propertyNames: { allOf: [{ pattern: p }, { not: { pattern: q } }, { pattern: r }] } },
    { type: "object", propertyNames: { pattern: "^(a|b)*a(a|b){11}$", maxLength: 1999 }, minProperties: 2 },
    { type: "array", items: { anyOf: [{ pattern: p }, { not: { pattern: q } }] }, contains: { pattern: r } },
    { type: "string", pattern: "^(a|b)*a(a|b){20}$" },
    null,
    { type: "integer" },
  ]
  const lines = schemas.map((schema) => JSON.stringify({ schema: JSON.stringify(schema), instances: ["1"] }))
  const { code, stdout } = await here(["grammar", "check", "--jsonl"], { stdin: `${lines.join("\n")}\n` })
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { status: string; reasons: string[] })
  expect(code).toBe(0)
  expect(answers).toHaveLength(schemas.length)
  expect(answers.at(-1)).toEqual({ status: "exact", reasons: [], accepted: [true] })
  for (const { status, reasons } of answers) if (status === "refused") expect(reasons[0]).toMatch(/\S/)
  expect(
    answers.filter(({ reasons }) => reasons.some((reason) => reason.includes("too many states"))).length,
  ).toBeGreaterThan(1)
})

test("wrong usage is told", async () => {
  expect(await here(["grammar"])).toMatchObject({ code: 2 })
  expect(await here(["grammar", "missing.json"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("cannot be read"),
  })
  expect(await here(["grammar", "-", "--format", "xml"], { stdin: "{}" })).toMatchObject({ code: 2 })
})

test("a grammar in Lark is checked, and a text against it", async () => {
  const cwd = folderWith({ "a.lark": 'start: "a"+', "b.lark": "start: b", "good.txt": "aa", "bad.txt": "ab" })
  const check = (...args: string[]) => here(["grammar", "check", ...args], { cwd })
  expect(await check("a.lark")).toMatchObject({ code: 0, stdout: "a.lark: no mistakes\n" })
  expect(await check("b.lark")).toMatchObject({ code: 1, stderr: expect.stringContaining("line 1, column 8") })
  expect(await check("a.lark", "--text", "good.txt")).toMatchObject({ code: 0, stdout: "good.txt: in the grammar\n" })
  expect(await check("a.lark", "--text", "bad.txt")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("line 1, column 2"),
  })
})
