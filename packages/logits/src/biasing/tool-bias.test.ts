import { describe, expect, it } from "vitest"
import { nameTokenBias, toolBias } from "./tool-bias.ts"

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

describe("nameTokenBias", () => {
  const bias = new Map([
    ["file", 0],
    ["file_search", 2],
    ["delete", Number.NEGATIVE_INFINITY],
  ])

  it("goes by the names that a token leads to", () => {
    const tokens: [number, string][] = [
      [1, "fi"],
      [2, "file"],
      [3, "de"],
      [4, 'delete"'],
      [5, "xyz"],
      [6, 'file"'],
    ]
    expect(nameTokenBias(bias, "", tokens)).toEqual({
      1: 2,
      2: 2,
      3: Number.NEGATIVE_INFINITY,
      4: Number.NEGATIVE_INFINITY,
      6: 0,
    })
  })

  it("tells a name from one that it begins", () => {
    expect(
      nameTokenBias(bias, "file", [
        [1, "_s"],
        [2, '"'],
        [3, '_search"'],
      ]),
    ).toEqual({ 1: 2, 2: 0, 3: 2 })
  })
})
