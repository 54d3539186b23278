import { createMatcher } from "@toolwright/logits"
import { success, type ToolCall } from "@toolwright/toolbox"
import { describe, expect, it } from "vitest"
import { INVENTED, SILENT, UNKNOWN_FORM } from "../fixtures/invented-templates.ts"
import { cutAt, eventsOf, randomFrom, readSample, toolOf, type WireTool } from "../fixtures/support.ts"
import { judge } from "./judge.ts"
import { renderingsOf } from "./renderings.ts"
import { collectReply, formatterOf, grammarFor, inferFormat, selectByTemplate, toolsFromJson } from "../index.ts"

const FAMILIES = Object.entries(INVENTED)

interface ToolSet {
  source: string
  tools: WireTool[]
  tests: { data: { name: string; arguments: ToolCall["arguments"] }; valid: boolean }[]
}

const formatOf = (template: string) => inferFormat(template).format!

describe("a format inferred from the chat template of a model that nobody has heard of", () => {
  it.each(FAMILIES)(
    "%s: has the codec, is sure, and prints as the template does",
    (_name, { template, one, codec }) => {
      const { format, certainty, judgement, recognised, seen } = inferFormat(template)
      expect({ certainty, recognised, codec: format?.calls[0]?.codec }).toEqual({
        certainty: "sure",
        recognised: undefined,
        codec,
      })
      expect(judgement).toMatchObject({ shown: 19, read: 19, unread: [], notShown: [] })
      expect(formatterOf(format!).printCalls([{ id: "qzcall001", name: "f", arguments: { k: "v" } }])).toBe(one)
      expect(seen.join(" ")).toContain("Reasoning stands between '<~muse~>' and '<~/muse~>'")
    },
  )

  it("marks between signs that no text has are marks like others", () => {
    const turns = "{% for m in messages %}§{{ m.role }}§{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
    const call = "⟦call:{{ c.function.name }}⟧{{ c.function.arguments | tojson }}⟦/call⟧"
    const rest = "{% endfor %}§end§{% endfor %}{% if tools %}§tools§{{ tools | tojson }}§end§{% endif %}"
    const template = `${turns}${call}${rest}{% if add_generation_prompt %}§assistant§{% endif %}`
    const { format, certainty, seen } = inferFormat(template)
    expect(certainty).toBe("sure")
    expect(seen).toContain("A turn ends in §end§.")
    expect(format!.stop).toEqual(["§end§"])
    // The list stands in a turn of its own: no piece of it is told as if it were all.
    expect(formatterOf(format!).formatToolsForPrompt([toolOf({ name: "ping" })])).not.toContain("tools§")
  })

  it("a turn that ends in a name between doubled or in square brackets ends in all of it", () => {
    for (const end of ["<<END>>", "[/model]"]) {
      const turns = "{% for m in messages %}{{ m.role }}: {{ m.content or '' }}{% for c in m.tool_calls or [] %}"
      const call = "<~act {{ c.function.name }}~>{{ c.function.arguments | tojson }}<~/act~>"
      const template = `${turns}${call}{% endfor %}${end}{% endfor %}{{ tools | tojson if tools }}`
      expect(inferFormat(template)).toMatchObject({ certainty: "sure", format: { stop: [end] } })
    }
  })

  it("reads and prints an id that stands among the attributes of a call", () => {
    const formatter = formatterOf(formatOf(INVENTED.avocet!.template))
    const reply = `<act tool="ping" ref="x-17"><arg key="host">a</arg></act><act tool="ping"></act>`
    const { calls, problems } = formatter.parse(reply, { tools: [toolOf({ name: "ping" })] })
    expect(calls).toMatchObject([{ id: "x-17", name: "ping", arguments: { host: "a" } }, { name: "ping" }])
    expect(problems).toEqual([])
    expect(formatter.printCalls(calls.slice(0, 1))).toBe(reply.slice(0, reply.indexOf("</act>") + 6))
  })

  it("reads and prints an id that stands before the name of a call, whole and cut off", () => {
    const formatter = formatterOf(formatOf(INVENTED.godwit!.template))
    const reply = `<<use id="x-17" fn="ping">><arg k="host">a</arg></use>><<use id="y" fn="ping">></use>>`
    const { calls, content, problems } = formatter.parse(`Now. ${reply}`, { tools: [toolOf({ name: "ping" })] })
    expect(calls).toMatchObject([
      { id: "x-17", name: "ping", arguments: { host: "a" } },
      { id: "y", name: "ping", arguments: {} },
    ])
    expect({ content, problems }).toEqual({ content: "Now.", problems: [] })
    expect(formatter.printCalls(calls)).toBe(reply)
    expect(formatter.parse(reply.slice(0, 14))).toMatchObject({ calls: [], problems: [{ kind: "unterminated-call" }] })
    expect(formatter.parse('Write <<use id="…> so.')).toMatchObject({ calls: [], content: 'Write <<use id="…> so.' })
  })

  it("a format that keeps a model's own ids for text is not called sure", () => {
    const { format } = inferFormat(INVENTED.godwit!.template)
    const [syntax] = format!.calls
    if (syntax?.codec !== "parameters") throw new Error("another codec")
    const fixed = { ...syntax, call: { ...syntax.call, open: ['" fn="'] } }
    delete (fixed.call as { idBefore?: string }).idBefore
    const renderings = renderingsOf(INVENTED.godwit!.template, {})
    expect(judge({ ...format!, calls: [fixed] }, renderings).unread).toContain("ids that the model makes up")
  })

  it.each(FAMILIES)("%s: what is printed is what is read, at every cut", (_name, { template }) => {
    const formatter = formatterOf(formatOf(template))
    const random = randomFrom(20_261_122)
    for (const { source, tools: wire, tests } of readSample<ToolSet>("tool-sets.jsonl")) {
      const tools = wire.map(toolOf)
      const calls = tests
        .filter((test) => test.valid)
        .map(({ data }) => ({ id: "", name: data.name, arguments: data.arguments }))
      for (const group of [calls.slice(0, 1), calls].filter(({ length }) => length > 0)) {
        const text = `Well. ${formatter.printCalls(group, tools)}`
        for (const pieces of [[text], text.split(""), cutAt(text, random), cutAt(text, random)]) {
          const reply = collectReply(eventsOf(formatter, pieces, { tools }))
          expect(
            reply.calls.map((each) => ({ ...each, id: "" })),
            `${source}\n${text}`,
          ).toEqual(group)
          expect(reply.problems, `${source}\n${text}`).toEqual([])
        }
      }
    }
  })

  it.each(FAMILIES)("%s: its grammar has every print, and no call of another tool", (_name, { template }) => {
    const format = formatOf(template)
    const tools = toolsFromJson([
      {
        name: "look_up",
        parameters: {
          type: "object",
          properties: {
            word: { type: "string" },
            times: { type: "integer" },
            tags: { type: "array", items: { type: "string" } },
          },
          required: ["word"],
        },
      },
      { name: "ping" },
    ])
    const formatter = formatterOf(format)
    const matcher = createMatcher(grammarFor(format, tools, { mode: "call" }))
    const call = (name: string, args: ToolCall["arguments"]) => ({ id: "call00001", name, arguments: args })
    const look = call("look_up", { word: "Zürich", times: 2, tags: ["a", "b"] })
    for (const calls of [[look], [look, call("ping", {})], [call("ping", {})]])
      expect(matcher.accepts(formatter.printCalls(calls, tools)), formatter.printCalls(calls, tools)).toBe(true)
    expect(matcher.accepts(formatter.printCalls([call("pong", {})], tools))).toBe(false)
    expect(matcher.accepts("Just text.")).toBe(false)
  })

  it("lists tools and shows results as the template does", () => {
    const formatter = formatterOf(formatOf(INVENTED.heron!.template))
    const tools = toolsFromJson([{ name: "look_up", description: "Finds it", parameters: { type: "object" } }])
    expect(formatter.formatToolsForPrompt(tools)).toContain('TOOLS [{"type": "function"')
    expect(formatter.formatToolsForPrompt(tools)).toContain("look_up")
    expect(formatter.formatToolResult({ id: "1", name: "look_up", arguments: {} }, success({ output: "found" }))).toBe(
      "<~back~>found<~/back~>",
    )
    expect(formatter.stop).toEqual(["<~fin~>"])
  })

  it("reads reasoning, content and the end of a turn apart", () => {
    const formatter = formatterOf(formatOf(INVENTED.ibis!.template))
    const reply = formatter.parse(
      `<~muse~>Which?<~/muse~>So: <~calls~><~call~>f<~with~>{"k": 1}<~/call~><~/calls~><~fin~>`,
    )
    expect(reply).toMatchObject({ reasoning: "Which?", content: "So:", problems: [] })
    expect(reply.calls).toMatchObject([{ name: "f", arguments: { k: 1 } }])
  })
})

describe("what cannot be inferred is said", () => {
  it("of a form that is none of ours", () => {
    const { format, certainty, unseen } = inferFormat(UNKNOWN_FORM)
    expect({ format, certainty }).toEqual({ format: undefined, certainty: "unsure" })
    expect(unseen.join(" ")).toContain("Calls are shown in a form that is not known")
  })

  it("of a template that shows no calls, and the name decides then", () => {
    expect(inferFormat(SILENT)).toMatchObject({
      format: undefined,
      unseen: ["The template shows no calls that it is given."],
    })
    expect(selectByTemplate("qwen2.5:7b", SILENT)).toMatchObject({ inferred: false, format: { id: "qwen2.5" } })
  })

  it("of a template that fails, with its reason", () => {
    const { unseen } = inferFormat("{{ raise_exception('not today') }}")
    expect(unseen.join(" ")).toContain("not today")
  })
})

describe("the choice by a chat template", () => {
  it("is the inferred format where none by hand has its marks", () => {
    const { format, inferred, because } = selectByTemplate("unheard-of-7b", INVENTED.wren!.template)
    expect({ id: format.id, inferred }).toEqual({ id: expect.stringMatching(/^inferred-[0-9a-f]{8}$/), inferred: true })
    expect(because).toContain("inferred from the chat template")
  })

  it("is the one by hand where that reads what the template shows", () => {
    const template = INVENTED.ibis!.template.replaceAll("<~calls~>", "<|tool_calls_section_begin|>")
      .replaceAll("<~/calls~>", "<|tool_calls_section_end|>")
      .replaceAll("<~call~>{{ f.name }}", "<|tool_call_begin|>functions.{{ f.name }}:{{ loop.index0 }}")
      .replaceAll("<~with~>", "<|tool_call_argument_begin|>")
      .replaceAll("<~/call~>", "<|tool_call_end|>")
    expect(selectByTemplate("", template)).toMatchObject({ inferred: false, format: { id: "kimi-k2" } })
  })

  it("is the inferred one where a format by hand has the marks and not the form", () => {
    const template = INVENTED.heron!.template.replaceAll("<do fn=", "<tool_call> <do fn=")
    const { inferred, format } = selectByTemplate("", template)
    expect(inferred).toBe(true)
    expect(formatterOf(format).parse(`<tool_call> <do fn="f">\n<arg k="a">b</arg>\n</do>`).calls).toMatchObject([
      { name: "f", arguments: { a: "b" } },
    ])
  })

  it("is what the setting says before everything", () => {
    expect(selectByTemplate("", INVENTED.wren!.template, { format: "hermes" })).toMatchObject({
      inferred: false,
      format: { id: "hermes" },
    })
  })
})

describe("a template in Go's language, as Ollama has its own", () => {
  const template =
    '{{- range $i, $_ := .Messages }}{{ if eq .Role "assistant" }}<|im_start|>assistant\n{{ range .ToolCalls ' +
    '}}<tool_call>\n{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}\n</tool_call>{{ end ' +
    "}}{{ end }}{{ end }}"

  it("is not rendered; that is told, and its marks say the format", () => {
    const { format, recognised, unseen } = inferFormat(template)
    expect([format, recognised]).toEqual([undefined, "hermes"])
    expect(unseen.join()).toContain("in Go's language")
    expect(selectByTemplate("nobody-knows", template)).toMatchObject({ format: { id: "hermes" }, inferred: false })
  })

  it("whose marks nobody knows shows how calls are written, and no more", () => {
    const unheard =
      '{{- range .Messages }}{{- if eq .Role "assistant" }}<|turn|>assistant\n{{ if .Content }}{{ .Content }}\n' +
      '{{- else if .ToolCalls }}<zed_calls>\n{{ range .ToolCalls }}{"zed_name": "{{ .Function.Name }}", ' +
      '"zed_args": {{ .Function.Arguments }}}\n{{ end }}</zed_calls>{{ end }}{{ end }}{{ end }}'
    const { format, certainty, judgement, recognised, unseen } = inferFormat(unheard)
    expect([recognised, certainty, judgement?.read]).toEqual([undefined, "likely", judgement?.shown])
    expect(unseen.join()).toContain("how it writes calls was read off it")
    const reply =
      '<zed_calls>\n{"zed_name": "a", "zed_args": {"k": [1, "}"]}}\n{"zed_name": "b", "zed_args": {}}\n</zed_calls>'
    expect(formatterOf(format!).parse(reply)).toMatchObject({
      calls: [
        { name: "a", arguments: { k: [1, "}"] } },
        { name: "b", arguments: {} },
      ],
      problems: [],
    })
    expect(selectByTemplate("nobody-knows", unheard)).toMatchObject({ inferred: true })
  })

  it.each([
    ["by a condition", "{{ if .Function.Strict }}!{{ end }}{{ .Function.Name }}({{ .Function.Arguments }})"],
    ["by a function of its own", "{{ slugify .Function.Name }}({{ .Function.Arguments }})"],
    ["and does not end", "{{ .Function.Name }}({{ .Function.Arguments }}){{ if .Last }}"],
  ])("that writes calls %s gives none", (_, call) => {
    const { format, unseen } = inferFormat(
      `{{ range .Messages }}{{ if .ToolCalls }}<zed>{{ range .ToolCalls }}${call}{{ end }}</zed>{{ end }}{{ end }}`,
    )
    expect(format).toBeUndefined()
    expect(unseen.join()).toContain("only its marks were looked at")
  })

  it("marks that trim take the blanks beside them, and a mark that nothing closes is text", () => {
    const trimmed =
      '{{ .Prompt }}{{ range .ToolCalls }}<zed>  {{- " " }}{{ end }}{{- range .ToolCalls -}}  \n{"zed_name": "{{ ' +
      '.Function.Name -}}  ", "zed_args": {{- /* */ }}'
    expect(inferFormat(trimmed).format).toBeUndefined()
    const plain =
      '{{ .Prompt }}<zed>\n  {{- range .ToolCalls -}}\n  {"zed_name": "{{- .Function.Name -}} ", "zed_args": {{ ' +
      ".Function.Arguments }}}\n{{- end -}}  </zed> {{ x"
    const reply = '<zed>{"zed_name": "a", "zed_args": {"k": 1}}</zed>'
    const { format } = inferFormat(plain)
    expect(formatterOf(format!).parse(reply).calls).toMatchObject([{ name: "a", arguments: { k: 1 } }])
  })

  it("is none in Jinja", () => {
    for (const { template: source } of Object.values(INVENTED))
      expect(inferFormat(source).unseen.join()).not.toContain("Go's language")
  })
})
