/** Chat templates and prompt files: broken, hostile and merely odd ones. */
import { parsePrompt, renderPrompt } from "@toolwright/prompts"
import { createChatTemplate, renderTemplate, type ChatMessage, toolsFromJson } from "@toolwright/toolformat"
import { mutateText, randomText, type Random } from "./random.ts"
import type { Target } from "./target.ts"

const SEEDS = [
  "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if " +
    "add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
  "{%- macro show(x, deep=true) -%}{{ x | tojson(indent=2) if deep else x }}{%- endmacro -%}{{ show(tools) }}{{ " +
    "show(messages[-1], deep=false) }}",
  "{% set ns = namespace(found=false, n=0) %}{% for t in tools or [] %}{% set ns.n = ns.n + loop.index0 %}{{ " +
    "t.function.name }}{{ ', ' if not loop.last }}{% endfor %}{{ ns.n }}",
  "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join('; ') | upper | trim }}",
  "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% else %}{% set loop_messages " +
    "= messages %}{% endif %}{{ loop_messages|length }}",
  "{% for c in messages[1].tool_calls %}{{ c.function.name }}({{ c.function.arguments | tojson }}){% else " +
    "%}none{% endfor %}",
  "{{ raise_exception('no ' ~ messages | length ~ ' messages') }}",
  "{% filter indent(4) %}{{ strftime_now('%d %B %Y') }}{% endfilter %}{% raw %}{{ x }}{% endraw %}{# comment #}",
  "{% for k, v in {'a': 1, 'b': [1, 2, (3, 4)]}.items() %}{{ k }}={{ v }}{% if loop.first %}{% continue %}{% " +
    "endif %}{% break %}{% endfor %}",
  "{{ 'x'.split(',')[0].rjust(9) ~ '%s %d' % ('a', 3) ~ '{:>5}'.format(2) ~ range(3)|list ~ (1 if true) }}",
  "{% call(x) f() %}{{ x }}{% endcall %}",
]

const PIECES = [
  "{{",
  "}}",
  "{%",
  "%}",
  "{#",
  "#}",
  "{%-",
  "-%}",
  " for ",
  " in ",
  " if ",
  " else ",
  "endfor",
  "endif",
  " set ",
  "macro ",
  "endmacro",
  "messages",
  "tools",
  "loop",
  "self",
  "caller()",
  "ns",
  ".content",
  "['role']",
  "[0]",
  "[::-1]",
  "[1:]",
  "[::0]",
  " | ",
  "tojson",
  "length",
  "join",
  "map",
  "sort",
  "unique",
  "groupby",
  "batch(3)",
  "slice(2)",
  "replace('a','aa')",
  "indent(999999)",
  "center(99999999)",
  "int",
  "float",
  "round(400)",
  "random",
  "default",
  "select",
  "sum",
  "min",
  "first",
  "reverse",
  "string",
  "list",
  "abs",
  "items",
  "title",
  "wordwrap",
  "truncate",
  "'x' * 999999999",
  "[0] * 9999",
  "range(100000)",
  "range(9**9)",
  "9 ** 9 ** 9",
  "1 // 0",
  "1 % 0",
  "-",
  "not ",
  " and ",
  " is defined ",
  " is mapping ",
  "~",
  "==",
  "<",
  ">=",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ":",
  ",",
  "'",
  '"',
  "\\",
  "1e999",
  "0x1F",
  "1_000",
  "none",
  "True",
  "namespace(a=1)",
  "joiner(',')",
  "cycler(1,2)",
  "lipsum()",
  "dict(a=1)",
  "__class__",
  ".__init__",
  "constructor",
  "__proto__",
  "prototype",
  "raise_exception('x')",
  "strftime_now('%q%Y%')",
  "'%s' % x",
  "'%999999999d' % 1",
  "'{0.a}'.format(1)",
  "'{:99999999}'.format(1)",
  "%",
  "recursive",
  "loop(x)",
  "with a = 1",
  "generation",
  "{% for x in range(3) %}",
  "{% if true %}",
  "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}",
  "\n",
  " ",
]

const CONVERSATION: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Weather? {{ 7 * 7 }}" },
  { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "get_weather", arguments: { city: "Oslo" } }] },
  { role: "tool", callId: "c1", name: "get_weather", content: "6 degrees" } as unknown as ChatMessage,
]
const TOOLS = toolsFromJson([
  {
    name: "get_weather",
    description: "Says the weather",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
])
const LIMITS = { maxSteps: 200_000, maxOutput: 200_000, maxDepth: 60 }
const CODES = ["TEMPLATE_SYNTAX", "TEMPLATE_FAILED", "TEMPLATE_REFUSED", "TEMPLATE_LIMIT"]

function template(random: Random): string {
  const form = random.next()
  if (form < 0.2) return randomText(random, PIECES, 25)
  if (form < 0.25) return random.pick(PIECES).repeat(random.pick([10, 300, 5000]))
  if (form < 0.45) return `{{ ${randomText(random, PIECES, 8)} }}`
  return mutateText(random, random.pick(SEEDS), PIECES)
}

export const templateTarget: Target = {
  name: "templates",
  show: (random) => JSON.stringify(template(random)).slice(0, 4000),
  async run(random, expecting) {
    const source = template(random)
    const messages = CONVERSATION.slice(0, 1 + random.below(4))
    expecting(CODES, () =>
      renderTemplate(source, { messages, tools: random.pick<unknown>([[], null, [{ a: 1 }], "x"]) }, LIMITS),
    )
    const chat = expecting(CODES, () => createChatTemplate(source, { limits: LIMITS }))
    if (chat !== undefined) {
      expecting(CODES, () => chat.drops())
      expecting(CODES, () => chat.renderWithReport(random.chance(0.5) ? { messages, tools: TOOLS } : { messages }))
    }
    if (random.chance(0.3)) await usePrompt(random, source)
  },
}

const HEADS = [
  "name: a\narguments:\n  - name: x\n    required: true\n",
  "name: [\n",
  "",
  "- a\n",
  "name: a\nengine: jinja\n",
  "name: a\narguments: {x: 1}\n",
  "name: &a a\ndescription: *a\n",
  "name: 7\n",
  "name: a\narguments: [null, 1]\n",
  "a: &x [*x]\n",
  "<<: {a: 1}\nname: b\n",
  "name: a\ntags: 3\n",
  "? [a]\n: b\n",
]

async function usePrompt(random: Random, source: string): Promise<void> {
  const head = random.chance(0.6)
    ? random.pick(HEADS)
    : mutateText(random, random.pick(HEADS), ["name", ":", "\n", "  ", "- ", "&a", "*a", "!!js", "{", "}", "|", "'"])
  const markdown = random.chance(0.5)
  const text = markdown ? `---\n${head}\n---\n${source}` : `${head}template: ${JSON.stringify(source)}\n`
  try {
    const prompt = await parsePrompt(text, markdown ? "p.md" : "p.yaml")
    renderPrompt(prompt, random.pick([{}, { x: "1" }, { x: [1, { a: null }] }]))
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== "INVALID_PROMPT") throw thrown
  }
}
