import { describe, expect, it, vi } from "vitest"
import { createPresetRegistry } from "./presets.ts"
import { constraintsFor, generateInMode } from "./modes.ts"

describe("createPresetRegistry", () => {
  it("has the seven presets with their settings", () => {
    const shown = createPresetRegistry()
      .list()
      .map(({ name, sampler, grammar, safety }) => ({
        name,
        ...sampler,
        ...(grammar && { grammar }),
        ...(safety && { safety }),
      }))
    expect(shown).toEqual([
      { name: "tool_call", temperature: 0, topK: 1, grammar: "tools" },
      { name: "json_strict", temperature: 0.1, topK: 40, topP: 0.9, minP: 0.05, grammar: "json-object" },
      { name: "json_loose", temperature: 0.3 },
      { name: "safe_chat", temperature: 0.7, safety: "standard" },
      { name: "code_generation", temperature: 0.2, topK: 50, repetitionPenalty: 1.1, safety: "minimal" },
      { name: "creative", temperature: 0.8, topK: 100 },
      { name: "deterministic", temperature: 0, topK: 1 },
    ])
  })

  it("hands out copies and keeps copies", () => {
    const registry = createPresetRegistry()
    registry.get("creative").sampler.temperature = 2
    registry.list()[0]!.sampler.temperature = 2
    const own = { name: "mine", description: "", sampler: { temperature: 0.5 } }
    registry.register(own)
    own.sampler.temperature = 1.9
    expect(
      [registry.get("creative"), registry.get("tool_call"), registry.get("mine")].map(
        ({ sampler }) => sampler.temperature,
      ),
    ).toEqual([0.8, 0, 0.5])
    expect(() => createPresetRegistry().get("mine")).toThrow(
      expect.objectContaining({ code: "UNKNOWN_PRESET", hint: expect.stringContaining("json_strict") }),
    )
  })

  it("refuses taken names and wrong settings", () => {
    const registry = createPresetRegistry()
    const register = (name: string, sampler: object, safety?: "standard") => () =>
      registry.register({ name, description: "", sampler, ...(safety && { safety }) })
    expect(register("creative", {})).toThrow(expect.objectContaining({ code: "INVALID_PRESET" }))
    expect(register("", {})).toThrow(expect.objectContaining({ code: "INVALID_PRESET" }))
    expect(register("hot", { temperature: 9 })).toThrow(expect.objectContaining({ code: "INVALID_SAMPLER" }))
    expect(register("odd", {}, "none" as "standard")).toThrow(expect.objectContaining({ code: "INVALID_PRESET" }))
  })
})

describe("generateInMode", () => {
  const constraint = { grammar: 'root ::= "a"', schema: { type: "object" } }

  it("tries what the mode says, never two constraints at once", () => {
    expect(constraintsFor("unconstrained", constraint)).toEqual([{}])
    expect(constraintsFor("grammar", constraint)).toEqual([{ grammar: constraint.grammar }])
    expect(constraintsFor("schema", constraint)).toEqual([{ schema: constraint.schema }])
    expect(constraintsFor("hybrid", constraint)).toEqual([{ grammar: constraint.grammar }, {}])
    expect(constraintsFor("hybrid", { schema: constraint.schema })).toEqual([{ schema: constraint.schema }, {}])
    expect(() => constraintsFor("grammar", {})).toThrow(expect.objectContaining({ code: "MISSING_CONSTRAINT" }))
  })

  it("falls back once in hybrid mode and says why", async () => {
    const run = vi.fn(async ({ grammar }: { grammar?: string }) => {
      if (grammar !== undefined) throw new Error("no grammars here")
      return "free text"
    })
    await expect(generateInMode("hybrid", constraint, run)).resolves.toEqual({
      result: "free text",
      attempts: [{ constraint: "grammar", error: "no grammars here" }, { constraint: "none" }],
    })
    await expect(generateInMode("grammar", constraint, run)).rejects.toThrow("no grammars here")
    expect(run).toHaveBeenCalledTimes(3)
  })
})
