import { expect, test } from "vitest"
import { isAllowed } from "../masks/apply.ts"
import { createTokenizer } from "../masks/tokenizer.ts"
import type { ToolCallState } from "./envelope.ts"
import { createFilterChain, type LogitFilter } from "./logit-filter.ts"
import { createToolCallFilter, type ToolCallFilter } from "./tool-call-filter.ts"

const tools = [
  { name: "file", parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] } },
  {
    name: "file_search",
    parameters: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["query"],
    },
  },
]

const pieces = [
  "{",
  "}",
  '"',
  ":",
  ",",
  " ",
  "\n",
  '{"',
  '{"name',
  '{"name":"',
  '"name',
  '"name"',
  'name"',
  '": "',
  '":',
  '":"',
  '","',
  "file",
  '"file',
  'file"',
  "file_",
  "_search",
  '_search"',
  'file","',
  '","args":{"',
  "arg",
  "args",
  '"args"',
  "s",
  '":{"',
  "path",
  '"path"',
  "query",
  'query":"',
  'query": "',
  "limit",
  '"limit":',
  "5",
  "12",
  "}}",
  '"}',
  '"}}',
  '"}}}',
  "a{b}",
  'x"',
  "\\",
  '\\"',
  "}{",
  "é",
  "name",
  "search",
  "_",
  "f",
  "ile",
  "[",
  "true",
  "e",
  'args": {"',
]
const encoder = new TextEncoder()
const EOS = pieces.length
const tokenizer = createTokenizer({
  tokens: [...pieces.map((piece) => encoder.encode(piece)), encoder.encode("</s>")],
  eos: [EOS],
})
const tokenOf = (piece: string): number => pieces.indexOf(piece)

/** Whether a text is the beginning of a call, told by a reader of its own that knows nothing of grammars. */
function isBeginning(text: string): boolean {
  let rest = text
  const space = (): void => {
    rest = rest.replace(/^[ \n]+/, "")
  }
  /** Takes a fixed text. "cut" where the input ends inside of it. */
  const take = (fixed: string): "yes" | "cut" | "no" => {
    if (rest.startsWith(fixed)) {
      rest = rest.slice(fixed.length)
      return "yes"
    }
    return fixed.startsWith(rest) ? "cut" : "no"
  }
  const takeAll = (...fixed: string[]): "yes" | "cut" | "no" => {
    for (const one of fixed) {
      const taken = take(one)
      if (taken !== "yes") return taken
      space()
    }
    return "yes"
  }
  const string = (): "yes" | "cut" | "no" => {
    const match = /^"(?:[^"\\\n]|\\["\\/bfnrt])*("|\\?$)/.exec(rest)
    if (match === null) return rest === "" ? "cut" : "no"
    rest = rest.slice(match[0].length)
    return match[1] === '"' ? "yes" : "cut"
  }
  const begun = takeAll("{", '"name"', ":")
  if (begun !== "yes") return begun === "cut"
  const named = tools.map(({ name }) => ({
    name,
    result: rest.startsWith(`"${name}"`) ? "yes" : `"${name}"`.startsWith(rest) ? "cut" : "no",
  }))
  const tool = named.find(({ result }) => result === "yes")
  if (tool === undefined) return named.some(({ result }) => result === "cut")
  takeAll(`"${tool.name}"`)
  const between = takeAll(",", '"args"', ":", "{")
  if (between !== "yes") return between === "cut"
  const open = tool.name === "file" ? ["path"] : ["query", "limit"]
  const needed = open[0]!
  for (let first = true; ; first = false) {
    if (first || rest.startsWith(",")) {
      if (!first) takeAll(",")
      if (rest === "") return open.length > 0
      const key = open.find((one) => rest.startsWith(`"${one}"`))
      if (key === undefined) return open.some((one) => `"${one}"`.startsWith(rest))
      open.splice(open.indexOf(key), 1)
      const colon = takeAll(`"${key}"`, ":")
      if (colon !== "yes") return colon === "cut"
      if (key === "limit") {
        if (rest === "") return true
        if (!/^[1-9]/.test(rest)) return false
        rest = rest.slice(1)
      } else {
        const value = string()
        if (value !== "yes") return value === "cut"
      }
      space()
      if (rest === "") return true
      if (rest.startsWith(",") && open.length === 0) return false
    } else {
      if (open.includes(needed)) return false
      const end = takeAll("}", "}")
      return end === "cut" || (end === "yes" && rest === "" && !/[ \n]$/.test(text))
    }
  }
}

function expectOracle(filter: ToolCallFilter, text: string): void {
  const mask = filter.mask()
  const allowed = pieces.filter((_, token) => isAllowed(mask, token))
  const expected = pieces.filter((piece) => filter.state !== "complete" && isBeginning(text + piece))
  expect([text, allowed.toSorted()]).toEqual([text, expected.toSorted()])
  expect(isAllowed(mask, EOS)).toBe(filter.state === "complete")
}

test("the seven states are gone through, and in each the allowed tokens are those of the oracle", () => {
  const walk: [piece: string, state: ToolCallState, tool?: string][] = [
    ['{"name', "expecting-tool-name"],
    ['": "', "expecting-name-value"],
    ["file", "expecting-name-value"],
    ["_search", "expecting-name-value"],
    ['","', "expecting-args", "file_search"],
    ['args": {"', "parsing-args", "file_search"],
    ['query": "', "parsing-args", "file_search"],
    ["a{b}", "parsing-args", "file_search"],
    ["}}", "parsing-args", "file_search"],
    ['\\"', "parsing-args", "file_search"],
    ['"', "parsing-args", "file_search"],
    [",", "parsing-args", "file_search"],
    ['"limit":', "parsing-args", "file_search"],
    ["5", "parsing-args", "file_search"],
    ["}", "expecting-end", "file_search"],
    ["\n", "expecting-end", "file_search"],
    ["}", "complete", "file_search"],
  ]
  const filter = createToolCallFilter({ tools, tokenizer })
  expect(filter.state).toBe("expecting-start")
  let text = ""
  expectOracle(filter, text)
  for (const [piece, state, tool] of walk) {
    expect([text, piece, filter.accept(tokenOf(piece))]).toEqual([text, piece, true])
    text += piece
    expect([text, filter.state, filter.tool]).toEqual([text, state, tool])
    expectOracle(filter, text)
  }
  expect(filter.accept(EOS)).toBe(true)
  expect(filter.mask().every((word) => word === 0)).toBe(true)
})

test("every way through the vocabulary agrees with the oracle", () => {
  let seed = 1
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let run = 0; run < 60; run++) {
    const filter = createToolCallFilter({ tools, tokenizer })
    let text = ""
    for (let step = 0; step < 25 && filter.state !== "complete"; step++) {
      expectOracle(filter, text)
      const mask = filter.mask()
      const options = pieces.filter((_, token) => isAllowed(mask, token))
      const piece = options[Math.floor(random() * options.length)]!
      filter.accept(tokenOf(piece))
      text += piece
    }
    if (filter.state === "complete") expect(JSON.parse(text)).toHaveProperty("args")
  }
})

test("a name that begins another can end or go on; a removed tool cannot be written any more", () => {
  const both = createToolCallFilter({ tools, tokenizer })
  const one = createToolCallFilter({ tools: tools.slice(0, 1), tokenizer })
  for (const filter of [both, one]) for (const piece of ['{"name":"', "file"]) filter.accept(tokenOf(piece))
  expect([isAllowed(both.mask(), tokenOf('"')), isAllowed(both.mask(), tokenOf('_search"'))]).toEqual([true, true])
  expect([isAllowed(one.mask(), tokenOf('"')), isAllowed(one.mask(), tokenOf('_search"'))]).toEqual([true, false])
})

test("rollback and clone take the states with them", () => {
  const filter = createToolCallFilter({ tools, tokenizer })
  for (const piece of ['{"name":"', "file"]) filter.accept(tokenOf(piece))
  const clone = filter.clone()
  clone.accept(tokenOf('","args":{"'))
  expect([clone.state, clone.tool, filter.state]).toEqual(["parsing-args", "file", "expecting-name-value"])
  clone.rollback(3)
  expect(clone.state).toBe("expecting-start")
  filter.reset()
  expectOracle(filter, "")
})

test("a chain applies its filters in order and takes a token back where one of them refuses it", () => {
  const filter = createToolCallFilter({ tools, tokenizer })
  const seen: number[] = []
  const refuses: LogitFilter = {
    name: "no-file",
    apply: (logits) => logits.fill(-Infinity, 1, 2),
    accept: (token) => token !== tokenOf('{"') && seen.push(token) > 0,
    rollback() {},
    reset() {},
    clone: () => refuses,
  }
  const chain = createFilterChain([filter, refuses])
  expect(chain.accept(tokenOf('{"'))).toBe(false)
  expect([filter.state, chain.accept(tokenOf("{")), filter.state, seen]).toEqual([
    "expecting-start",
    true,
    "expecting-tool-name",
    [0],
  ])
  const logits = new Float32Array(tokenizer.size)
  chain.apply(logits)
  expect(pieces.filter((_, token) => logits[token] === 0)).toEqual(['"', " ", "\n", '"name', '"name"'])
})
