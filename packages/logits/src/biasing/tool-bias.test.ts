import { describe, expect, it } from "vitest"
import { tokenBias, toolBias } from "./tool-bias.ts"

describe("toolBias", () => {
  it("encourages ready tools, discourages repeated ones, blocks named ones", () => {
    const tools = [
      { name: "publish", consumes: ["content"] },
      { name: "outline", consumes: ["content", "analysis"] },
      { name: "search" },
      { name: "rm" },
    ]
    const bias = toolBias(tools, { available: ["content"], calls: { search: 4, publish: 2 }, blocked: ["rm"] })
    expect(Object.fromEntries(bias)).toEqual({ publish: 1, outline: 0, search: -2, rm: Number.NEGATIVE_INFINITY })
  })
})

describe("tokenBias", () => {
  /** Tokens of `{"name": "` and of the parts of names. */
  const [front, read, file, search, write, rm] = [1, 2, 3, 4, 5, 6]
  const names = new Map([
    ["read_file", [front, read, file]],
    ["read_search", [front, read, search]],
    ["write_file", [front, write, file]],
  ])

  it("adds to the tokens in which names part, and to no other", () => {
    expect(tokenBias(new Map([["write_file", -2]]), names)).toEqual({ [write]: -2 })
    expect(tokenBias(new Map([["read_search", 1]]), names)).toEqual({ [read]: 1, [search]: 1 })
  })

  it("adds nothing where all that can follow is as likely, or there is one name alone", () => {
    expect(tokenBias(new Map([...names.keys()].map((name) => [name, -3])), names)).toEqual({})
    expect(tokenBias(new Map([["rm", Number.NEGATIVE_INFINITY]]), new Map([["rm", [front, rm]]]))).toEqual({})
  })

  it("weighs a name against the one that it goes on from", () => {
    const two = new Map([
      ["file", [front, file]],
      ["file_search", [front, file, search]],
    ])
    expect(tokenBias(new Map([["file", -2]]), two)).toEqual({ [search]: 2 })
    expect(tokenBias(new Map([["file_search", -2]]), two)).toEqual({ [search]: -2 })
  })

  it("discourages blocked names without taking their tokens from the rest of a reply", () => {
    const bias = new Map([["write_file", Number.NEGATIVE_INFINITY]])
    expect(tokenBias(bias, names)).toEqual({ [write]: -8 })
  })

  it("takes the weaker value of a token that leads to one name here and to another there", () => {
    const four = new Map([...names, ["write_search", [front, write, search]]])
    // `search` after `read` would be worth -2, after `write` 1
    const bias = new Map([
      ["read_search", -2],
      ["write_search", 1],
    ])
    expect(tokenBias(bias, four)).toEqual({ [write]: 1, [search]: 1 })
  })
})
