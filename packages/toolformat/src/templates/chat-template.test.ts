import { describe, expect, test } from "vitest"
import type { ChatMessage, OpenAITool } from "../model/message.ts"
import { formatterById } from "../selector/index.ts"
import { createChatTemplate } from "./chat-template.ts"
import { TemplateError } from "./jinja/errors.ts"
import { toDefinitions } from "./messages.ts"

const messages: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Add." },
  {
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "call_0", name: "add", arguments: { a: 1 } },
      { id: "call_1", name: "add", arguments: { a: 2 } },
    ],
  },
  { role: "tool", content: "3", callId: "call_0", name: "add", success: true },
  { role: "tool", content: "4", callId: "call_1", name: "add", success: true },
]
const tools: OpenAITool[] = [
  {
    type: "function",
    function: {
      name: "add",
      description: "Adds",
      parameters: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
    },
  },
]

const TURNS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
const CALLS =
  "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}<{{ c.id }} {{ " +
  "c.function.name }} {{ c.function.arguments|tojson }}>{% endfor %}{% endfor %}"
const FULL = `{{ tools|tojson if tools }}${CALLS}`

describe("a chat template", () => {
  test("gets arguments as objects, and its own variables", () => {
    const template = createChatTemplate(
      "{{ bos_token }}{{ mode }}{{ messages[2].tool_calls[0].function.arguments.a + 1 }}{{ add_generation_prompt }}",
      {
        bosToken: "<s>",
        variables: { mode: "x" },
        fallback: "none",
      },
    )
    expect(template.render({ messages })).toBe("<s>x2True")
    expect(template.render({ messages, addGenerationPrompt: false, variables: { mode: "y" } })).toBe("<s>y2False")
  })

  test("asks the clock it was given", () => {
    const now = (): Date => new Date(2031, 4, 6)
    expect(createChatTemplate("{{ strftime_now('%d %b %Y') }}", { now }).render({ messages: [] })).toBe("06 May 2031")
  })

  test("sees nine-character ids where it is Mistral's, and results keep to their calls", () => {
    const text = createChatTemplate(
      `{# [TOOL_CALLS] #}{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.id }} {% endfor %}{{ m.tool_call_id }} {% endfor %}`,
      { fallback: "none" },
    ).render({ messages })
    const ids = text.trim().split(/\s+/)
    expect(ids).toHaveLength(4)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(ids.slice(0, 2)).toEqual(ids.slice(2))
    expect(ids[0]).not.toBe(ids[1])
  })

  test("sees Kimi's ids, counted over the conversation", () => {
    const text = createChatTemplate(
      `{# <|tool_calls_section_begin|> #}{% for m in messages %}{{ m.tool_call_id }}|{% endfor %}`,
      { fallback: "none" },
    ).render({ messages })
    expect(text).toBe("|||functions.add:0|functions.add:1|")
  })

  test("moves the system message where its role is refused", () => {
    const template = createChatTemplate(
      `{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}${TURNS}`,
    )
    expect(template.renderWithReport({ messages: messages.slice(0, 2) })).toEqual({
      text: "[user]Be brief.\n\nAdd.",
      adaptations: ["system-in-user"],
    })
  })

  test("gives arguments as text to a template that fails on objects", () => {
    const template = createChatTemplate(
      "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.name + c.function.arguments }}{% endfor %}{% endfor %}",
      { fallback: "none" },
    )
    expect(template.renderWithReport({ messages })).toEqual({
      text: 'add{"a":1}add{"a":2}',
      adaptations: ["arguments-as-text"],
    })
  })

  test("joins neighbouring messages for a template whose roles alternate", () => {
    const template = createChatTemplate(
      "{% for m in messages %}{% if not loop.first and m.role == messages[loop.index0 - 1].role %}{{ " +
        "raise_exception('roles must alternate') }}{% endif %}[{{ m.role }}]{{ m.content }}{% endfor %}",
    )
    const said: ChatMessage[] = [
      { role: "user", content: "a" },
      { role: "user", content: "b" },
      { role: "assistant", content: "c" },
      { role: "assistant", content: "d" },
      { role: "user", content: "e" },
    ]
    expect(template.renderWithReport({ messages: said })).toEqual({
      text: "[user]a\n\nb[assistant]c\n\nd[user]e",
      adaptations: ["turns-joined"],
    })
  })

  test("tells the first failure when no form helps", () => {
    const template = createChatTemplate("\n {{ raise_exception('never') }}")
    expect(() => template.render({ messages })).toThrow(TemplateError)
    expect(() => template.render({ messages })).toThrow("never (template line 2, column 20)")
  })
})

describe("what a template leaves out", () => {
  test("is found by rendering marked messages", () => {
    const none = {
      tools: false,
      toolsWithoutSystem: false,
      calls: false,
      results: false,
      pastCalls: false,
      parallelCalls: false,
      failed: false,
    }
    expect(createChatTemplate(FULL).drops()).toEqual(none)
    expect(createChatTemplate(CALLS).drops()).toEqual({ ...none, tools: true, toolsWithoutSystem: true })
    expect(createChatTemplate(TURNS).drops()).toEqual({
      ...none,
      tools: true,
      toolsWithoutSystem: true,
      calls: true,
      pastCalls: true,
    })
    expect(
      createChatTemplate(
        "{{ tools }}{% for m in messages %}{{ m.content if m.role != 'tool' }}{{ m.tool_calls if loop.index0 > " +
          "messages|length - 3 }}{% endfor %}",
      ).drops(),
    ).toEqual({
      ...none,
      results: true,
      pastCalls: true,
      parallelCalls: true,
    })
    expect(createChatTemplate(`{{ tools if messages[0].role == 'system' }}${CALLS}`).drops()).toEqual({
      ...none,
      toolsWithoutSystem: true,
    })
  })

  test("stays out on request", () => {
    expect(createChatTemplate(TURNS, { fallback: "none" }).render({ messages, tools })).toBe(
      "[system]Be brief.[user]Add.[assistant][tool]3[tool]4",
    )
  })

  test("is written as text in the format whose marks the template has", () => {
    const { text, adaptations } = createChatTemplate(
      `{# <arg_key> <arg_value> <tool_call> #}${TURNS}`,
    ).renderWithReport({ messages, tools })
    expect(adaptations).toEqual(["tools-as-text", "calls-as-text"])
    expect(
      formatterById("glm45")
        .parse(text.slice(text.indexOf("[assistant]")), { tools: toDefinitions(tools) })
        .calls.map((call) => call.arguments),
    ).toEqual([{ a: 1 }, { a: 2 }])
  })

  test("is written as text in the format given", () => {
    const fallback = formatterById("hermes")
    const { text, adaptations } = createChatTemplate(
      "{% for m in messages if m.role != 'tool' %}[{{ m.role }}]{{ m.content }}{% endfor %}",
      { fallback },
    ).renderWithReport({ messages, tools })
    expect(adaptations).toEqual(["tools-as-text", "calls-as-text", "results-as-text"])
    expect(text).toContain('"name": "add"')
    expect(fallback.parse(text.slice(text.indexOf("[assistant]"))).calls.map((call) => call.arguments)).toEqual([
      { a: 1 },
      { a: 2 },
    ])
    expect(text.match(/<tool_response>/g)).toHaveLength(2)
    expect(text.match(/\[user\]/g)).toHaveLength(2)
  })

  test("everything is, where the template fails on the conversation as it is", () => {
    const { text, adaptations } = createChatTemplate(
      `{% if tools %}{{ nothing.here }}{% endif %}${CALLS}`,
    ).renderWithReport({ messages: messages.slice(0, 2), tools })
    expect(adaptations).toEqual(["tools-as-text"])
    expect(text).toContain("add")
  })

  test("only that: the rest is the template's own", () => {
    const fallback = formatterById("hermes")
    const { text, adaptations } = createChatTemplate(CALLS, { fallback }).renderWithReport({ messages, tools })
    expect(adaptations).toEqual(["tools-as-text"])
    expect(text).toContain('<call_0 add {"a": 1}>')
    const full = createChatTemplate(FULL, { fallback }).renderWithReport({ messages, tools })
    expect(full).toEqual({
      text: createChatTemplate(FULL, { fallback: "none" }).render({ messages, tools }),
      adaptations: [],
    })
  })

  test.each([
    ["drops", "{{ m.tool_calls[0].function|tojson if m.tool_calls }}"],
    [
      "refuses",
      "{% if m.tool_calls %}{% if m.tool_calls|length > 1 %}{{ raise_exception('one call only') }}{% endif %}{{ " +
        "m.tool_calls[0].function|tojson }}{% endif %}",
    ],
  ])("calls side by side stand one after the other where a template %s the second", (_what, calls) => {
    const template = createChatTemplate(
      `{{ tools|tojson if tools }}{% for m in messages %}[{{ m.role }}]{{ m.content }}${calls}{% endfor %}`,
    )
    const { text, adaptations } = template.renderWithReport({ messages })
    expect(adaptations).toEqual(["one-call-per-message"])
    expect(text).toBe(
      '[system]Be brief.[user]Add.[assistant]{"name": "add", "arguments": {"a": 1}}[tool]3[assistant]{"name": ' +
        '"add", "arguments": {"a": 2}}[tool]4',
    )
  })

  test("a system message is added where the tools stand only beside one", () => {
    const template = createChatTemplate(`{{ tools if messages[0].role == 'system' }}${CALLS}`, {
      fallback: formatterById("hermes"),
    })
    const { text, adaptations } = template.renderWithReport({ messages: messages.slice(1), tools })
    expect(adaptations).toEqual(["system-added"])
    expect(text).toContain("'name': 'add'")
  })
})
