import { expect, test } from "vitest"
import { parseOptions } from "./options.ts"

const options = {
  root: { type: "string", multiple: true, value: "dir", description: "" },
  name: { type: "string", short: "n", description: "" },
  json: { type: "boolean", description: "" },
} as const

test("options and positionals are told apart, wherever they stand", () => {
  const { values, positionals } = parseOptions(["a", "--root", "x", "--json", "-n", "y", "--root=z", "b"], options)
  expect(values).toEqual({ root: ["x", "z"], json: true, name: "y" })
  expect(positionals).toEqual(["a", "b"])
})

test("everything after -- is positional, and a boolean can be negated", () => {
  expect(parseOptions(["--no-json", "--", "--root", "-n"], options)).toEqual({
    values: expect.objectContaining({ json: false }),
    positionals: ["--root", "-n"],
  })
})

test.each<[string[], boolean, string[]]>([
  [["--json", "false"], false, []],
  [["--json", "true", "a"], true, ["a"]],
  [["--json=no"], false, []],
  [["--no-json=false"], true, []],
  [["--json", "a"], true, ["a"]],
  [["--json", "--", "false"], true, ["false"]],
])("%j: a boolean takes a value, and nothing else", (args, json, rest) => {
  expect(parseOptions(args, options)).toEqual({ values: { json }, positionals: rest })
})

test("an option is taken under its other name, where no option has that", () => {
  const declared = { "model-template": { type: "string", also: "template", description: "" } } as const
  expect(parseOptions(["--template", "x", "y"], declared)).toEqual({
    values: { "model-template": "x" },
    positionals: ["y"],
  })
  const both = { ...declared, template: { type: "string", description: "" } } as const
  expect(parseOptions(["--template", "x"], both).values).toEqual({ template: "x" })
})

test("names may stand in one value, by commas; what may hold a comma itself stays as it is", () => {
  const declared = {
    kits: { type: "string", value: "name", multiple: true, description: "" },
    "deny-tool": { type: "string", value: "pattern", multiple: true, description: "" },
    root: { type: "string", value: "dir", multiple: true, description: "" },
  } as const
  const args = ["--kits", "blog, database", "--kits=web", "--deny-tool", "bash,git_*,", "--root", "a,b"]
  expect(parseOptions(args, declared).values).toEqual({
    kits: ["blog", "database", "web"],
    "deny-tool": ["bash", "git_*"],
    root: ["a,b"],
  })
})

test.each<[string[], string]>([
  [["--rot", "x"], "Unknown option '--rot'."],
  [["--no-name"], "Unknown option '--no-name'."],
  [["--root"], "Option '--root' needs a value: --root <dir>."],
  [["--root", "--json"], "Option '--root' needs a value, but '--json' follows."],
  [["--json=perhaps"], "Option '--json' is true or false, but 'perhaps' was given."],
  [["--constructor"], "Unknown option '--constructor'."],
  [["a", "b"], "Unexpected argument 'b'."],
])("%j is refused", (args, message) => {
  expect(() => parseOptions(args, options, { max: 1 })).toThrow(expect.objectContaining({ code: "USAGE", message }))
})
