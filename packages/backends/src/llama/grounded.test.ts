import { createMaskEngine, grammarToGbnf, type GroundingRules, matchesGbnf } from "@toolwright/logits"
import { defineTool, type JsonObject, type JsonSchema } from "@toolwright/toolbox"
import { grammarFor } from "@toolwright/toolformat"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openPocket } from "../pocket/open.ts"
import { writeAll } from "../testing/tiny-model.ts"
import { type LlamaBackend, renderChatMl } from "./backend.ts"
import { generateMasked } from "./masked.ts"

const STRING: JsonSchema = { type: "string" }
const tool = (name: string, properties: Record<string, JsonSchema>, required: string[]) =>
  defineTool({
    name,
    description: "",
    parameters: { type: "object", properties, required, additionalProperties: false },
    execute: () => "",
  })
const TOOLS = [
  tool("read_text_file", { path: STRING, head: { type: "integer" }, tail: { type: "integer" } }, ["path"]),
  tool("write_file", { path: STRING, content: STRING }, ["path", "content"]),
  tool("move_file", { source: STRING, destination: STRING }, ["source", "destination"]),
]
const RULES: GroundingRules = {
  "*": { path: "path", source: "path", destination: "path", content: "span", head: "number", tail: "number" },
}

const REQUESTS = [
  "show me the first 7 lines of qx_zzt-81.conf",
  "write 'föö \"bär\"' into weird.dir/änd.txt",
  "rename xkcd.tmpl to kvothe/xkcd.bak",
  "read vzqj.w",
]

let backend: LlamaBackend
beforeAll(async () => {
  backend = await openPocket()
})
afterAll(() => backend.close())

/** Every string of the arguments is in the request, at least in parts around a "/"; so is every number. */
function expectFromRequest(reply: string, request: string): void {
  const [, json] = /<tool_call>\n(.*)\n<\/tool_call>/s.exec(reply) ?? []
  const { arguments: args } = JSON.parse(json!) as { arguments: JsonObject }
  for (const value of Object.values(args)) {
    const text = String(value)
    const cut = [...text].flatMap((letter, at) => (letter === "/" ? [[text.slice(0, at), text.slice(at + 1)]] : []))
    expect([request, text, [[text], ...cut].some((parts) => parts.every((part) => request.includes(part)))]).toEqual([
      request,
      text,
      true,
    ])
  }
}

describe("the pocket model, held to what was said", () => {
  it.each(REQUESTS)("copies right in llama.cpp and under our masks: %s", async (request) => {
    const grammar = grammarFor("hermes", TOOLS, {
      mode: "call",
      parallel: false,
      grounding: { text: request, rules: RULES },
    })
    const gbnf = grammarToGbnf(grammar)
    const prompt = renderChatMl([{ role: "user", content: request }])
    const reply = await writeAll(
      backend.engine.generate(prompt, { grammar: gbnf, sampling: { temperature: 0, maxTokens: 150 } }),
    )
    expect([reply, matchesGbnf(gbnf, reply)]).toEqual([reply, true])
    expectFromRequest(reply, request)
    const masked = await generateMasked(backend.engine, prompt, {
      constraint: createMaskEngine(grammar, backend.engine.tokenizer).matcher(),
      sampler: { temperature: 0 },
      maxTokens: 150,
    })
    expect(masked.finishReason).toBe("stop")
    expectFromRequest(masked.text, request)
  })

  it("says that it is small", () => {
    expect(backend.abilities.small).toBe(true)
  })
})
