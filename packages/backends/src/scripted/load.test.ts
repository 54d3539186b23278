import { readFileSync, writeFileSync } from "node:fs"
import { validate } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { loadScreenplay, parseScreenplay } from "./load.ts"
import { SCREENPLAY_SCHEMA } from "./schema.ts"

const messageOf = (text: string) =>
  parseScreenplay(text, "play.yaml").then(
    () => "no error",
    (error: { code: string; message: string }) => `${error.code} ${error.message}`,
  )

describe("reading a screenplay", () => {
  test.each<[string, string, string]>([
    ["broken YAML", "steps:\n  - reply: [a\n  - reply: b\n", "play.yaml:3:"],
    [
      "a misspelt key",
      "steps:\n  - reply: a\n    expct: { user: x }\n",
      "play.yaml:3:12: unknown key 'expct' in steps.0; did you mean 'expect'?",
    ],
    ["a missing key", "steps:\n  - name: a\n", "play.yaml:2:5: steps.0 needs 'reply'"],
    ["a wrong type", "steps:\n  - reply: 7\n", "play.yaml:2:12: steps.0.reply must be string or object"],
    ["no steps", "steps: []\n", "play.yaml:1:8: steps must NOT have fewer than 1 items"],
    [
      "a word that is not known",
      "steps:\n  - reply: { finish: done }\n",
      "steps.0.reply.finish must be one of: stop, length",
    ],
    [
      "a broken pattern",
      "steps:\n  - reply: a\n    capture: { x: '(' }\n",
      "play.yaml:3:19: Invalid regular expression",
    ],
    ["a broken path", "steps:\n  - reply: a\n    capture: { x: { json: '$..a' } }\n", "'$..a' is no path"],
    [
      "a value captured nowhere",
      "steps:\n  - reply: a {{line}}\n",
      "play.yaml:2:12: {{line}} is captured nowhere before",
    ],
    ["steps that are never reached", "steps:\n  - { reply: a, repeat: always }\n  - reply: b\n", "never reached"],
    ["text beside a stream", "steps:\n  - reply: { text: a, stream: [{ text: b }] }\n", "a reply with 'stream'"],
    ["something else", "just text", "play.yaml:1:1: the screenplay must be object"],
  ])("%s is refused with its line", async (_, text, expected) => {
    const message = await messageOf(text)
    expect(message).toMatch(/^SCREENPLAY_INVALID /)
    expect(message).toContain(expected)
  })

  test("every mistake is reported at once", async () => {
    expect((await messageOf("nme: x\nsteps:\n  - reply: 7\n")).split("\n")).toHaveLength(2)
  })

  test("braces are left alone where interpolation is off", async () => {
    expect(await messageOf("steps:\n  - reply: { text: 'a {{line}}', interpolate: false }\n")).toBe("no error")
  })

  test("a missing file is named", async () => {
    await expect(loadScreenplay("/nowhere/play.yaml")).rejects.toMatchObject({
      code: "SCREENPLAY_INVALID",
      message: expect.stringContaining("/nowhere/play.yaml"),
    })
  })

  test("the published JSON Schema is the one in force", async () => {
    const file = new URL("../../schema/screenplay.schema.json", import.meta.url)
    if (process.env["UPDATE_DOCS"] !== undefined) writeFileSync(file, `${JSON.stringify(SCREENPLAY_SCHEMA, null, 2)}\n`)
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(SCREENPLAY_SCHEMA)
    expect(await validate(SCREENPLAY_SCHEMA, { steps: [{ reply: "a" }] })).toEqual([])
  })
})
