import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chooseDelivery, DELIVERIES, fallBackFrom } from "./delivery.ts"
import { isConstraintError } from "./refusals.ts"
import { constraintBody, CONSTRAINT_SERVERS, constraintsIn, type WireConstraint } from "./request-body.ts"

const all = { nativeTools: true, grammar: true, jsonSchema: true }
const none = { nativeTools: false, grammar: false, jsonSchema: false }

describe("chooseDelivery", () => {
  it("goes down the ladder: native, grammar, family text, generic", () => {
    const kinds = [
      chooseDelivery(all),
      chooseDelivery({ ...all, nativeTools: false }),
      chooseDelivery({ ...all, nativeTools: false }, { hasGrammar: false }),
      chooseDelivery({ ...all, nativeTools: false }, { hasGrammar: false, mustCall: true }),
      chooseDelivery(none, { knownFamily: true }),
      chooseDelivery(none, { knownFamily: false }),
    ].map(({ kind, constraint }) => [kind, constraint])
    expect(kinds).toEqual([
      ["native", "tools"],
      ["grammar", "grammar"],
      ["text", "none"],
      ["schema", "jsonSchema"],
      ["text", "none"],
      ["generic", "none"],
    ])
  })

  it("takes what is configured where it can, and says why it cannot", () => {
    expect(chooseDelivery(all, { prefer: "grammar" })).toEqual({
      kind: "grammar",
      constraint: "grammar",
      reason: "as configured",
    })
    expect(chooseDelivery(none, { prefer: "native" }).reason).toBe(
      "native was configured but is not possible; native: the server has no native tool use; grammar: the server " +
        "takes no grammar; schema: the server takes no JSON Schema",
    )
  })

  it("answers for every server and setting", () => {
    fc.assert(
      fc.property(
        fc.record({ nativeTools: fc.boolean(), grammar: fc.boolean(), jsonSchema: fc.boolean() }),
        fc.record({
          prefer: fc.option(fc.constantFrom(...DELIVERIES), { nil: undefined }),
          knownFamily: fc.boolean(),
          hasGrammar: fc.boolean(),
          mustCall: fc.boolean(),
          failed: fc.subarray([...DELIVERIES]),
        }),
        (abilities, settings) => {
          const { kind, reason } = chooseDelivery(abilities, settings)
          expect(reason).not.toBe("")
          if (kind !== "generic") expect(settings.failed).not.toContain(kind)
          if (kind === "grammar") expect(abilities.grammar && settings.hasGrammar).toBe(true)
        },
      ),
    )
  })
})

describe("fallBackFrom", () => {
  const grammarError = Object.assign(new Error("failed to parse grammar"), { code: "MODEL_REQUEST_REJECTED" })

  it("goes on without a constraint after a grammar error, once, and records it", () => {
    const first = chooseDelivery(all, { prefer: "grammar" })
    const fallback = fallBackFrom(first, grammarError, all, { prefer: "grammar" })
    expect(fallback).toMatchObject({
      from: "grammar",
      to: { kind: "text", constraint: "none" },
      error: "failed to parse grammar",
    })
    expect(fallBackFrom(fallback!.to, grammarError, all)).toBeUndefined()
    expect(fallBackFrom(first, grammarError, all, { failed: ["native"] })).toBeUndefined()
  })

  it("tries a grammar after native tool use failed", () => {
    const error = new Error("tools param requires --jinja flag")
    expect(fallBackFrom(chooseDelivery(all), error, all)?.to.kind).toBe("grammar")
  })

  it("passes on what has nothing to do with the constraint", () => {
    for (const code of ["MODEL_UNREACHABLE", "MODEL_UNAUTHORIZED", "MODEL_TIMEOUT"])
      expect(isConstraintError(Object.assign(new Error("it does not support tools"), { code }))).toBe(false)
    expect(isConstraintError(new Error("out of memory"))).toBe(false)
  })
})

describe("isConstraintError", () => {
  it.each([
    "Unexpected empty grammar stack after accepting piece",
    "tools param requires --jinja flag",
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "registry.ollama.ai/library/gemma:2b does not support tools",
    "This model does not support function calling.",
    "No endpoints found that support tool use. To learn more about provider routing, visit the documentation",
    "Tool calling is not supported by this model",
    "`tools` is not supported in this model",
    "Unrecognized request argument supplied: tools",
    "Unsupported parameter: 'tools'",
    'json: unknown field "tool_choice"',
    "create() got an unexpected keyword argument 'tools'",
    "failed to parse grammar",
    "Failed to initialize samplers: grammar",
    "Invalid grammar request with cache hit=False",
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "This model does not support response format `json_schema`",
  ])("knows a refusal by its words: %s", (message) => {
    for (const code of ["MODEL_REQUEST_REJECTED", "MODEL_SERVER_ERROR"])
      expect(isConstraintError(Object.assign(new Error(message), { code }))).toBe(true)
  })

  it.each([
    "internal error: the tools service is down",
    "upstream connect error while loading tools",
    "context length exceeded: messages take 9000 tokens, tools take 400",
    "too many tool calls in this minute",
    "Invalid 'tools[0].function.name': string does not match pattern",
    "Unknown parameter: 'tools[0].strict'",
    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    "structured logging backend failed",
    "the grammar cache is full, out of memory",
    "tool_call_id is missing",
    "does not support tools with more than 128 entries",
    "maximum number of tools is 128",
    "the model 'tools-7b' is loading",
  ])("is not misled by a word: %s", (message) => {
    for (const code of ["", "MODEL_REQUEST_REJECTED", "MODEL_SERVER_ERROR"])
      expect(isConstraintError(Object.assign(new Error(message), { code }))).toBe(false)
  })
})

describe("constraintBody", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false }
  const tags = { tags: [{ begin: "<tool_call>", schema, end: "</tool_call>" }], triggers: ["<tool_call>"] }

  it("writes each server's own fields", () => {
    const write = (constraint: WireConstraint) =>
      Object.fromEntries(
        CONSTRAINT_SERVERS.map((server) => {
          try {
            return [server, constraintBody(server, constraint)]
          } catch (thrown) {
            return [server, (thrown as { code: string }).code]
          }
        }),
      )
    expect(write({ grammar: "root ::= x" })).toEqual({
      "llama-server": { grammar: "root ::= x" },
      vllm: { structured_outputs: { grammar: "root ::= x" } },
      "vllm-before-0.12": { guided_grammar: "root ::= x" },
      sglang: { ebnf: "root ::= x" },
      ollama: "UNSUPPORTED_CONSTRAINT",
      openai: "UNSUPPORTED_CONSTRAINT",
    })
    expect(write({ schema, name: "my reply" })).toEqual({
      "llama-server": { json_schema: schema },
      vllm: { structured_outputs: { json: schema } },
      "vllm-before-0.12": { guided_json: schema },
      sglang: { response_format: { type: "json_schema", json_schema: { name: "my_reply", schema } } },
      ollama: { format: schema },
      openai: { response_format: { type: "json_schema", json_schema: { name: "my_reply", strict: true, schema } } },
    })
    const structural = { type: "structural_tag", structures: tags.tags, triggers: tags.triggers }
    expect(write(tags)).toMatchObject({
      sglang: { response_format: structural },
      vllm: { structured_outputs: { structural_tag: JSON.stringify(structural) } },
      ollama: "UNSUPPORTED_CONSTRAINT",
    })
  })

  it("finds more than one constraint in a body", () => {
    expect(constraintsIn({ grammar: "x", tools: [{}], response_format: { type: "text" } })).toEqual([
      "grammar",
      "tools",
    ])
    expect(constraintsIn({ tools: [{}], tool_choice: "none", response_format: { type: "json_object" } })).toEqual([
      "response_format",
    ])
    for (const server of CONSTRAINT_SERVERS) expect(constraintsIn(constraintBody(server, { schema }))).toHaveLength(1)
  })
})
