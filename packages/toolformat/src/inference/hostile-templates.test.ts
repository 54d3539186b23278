import { describe, expect, test } from "vitest"
import { inferFormat } from "./infer.ts"

const LONG = 1_000_000
const CALL = "{{ .Function.Name }}{{ .Function.Arguments }}"

/** Templates that a model's server could answer with. */
const TEMPLATES: Readonly<Record<string, string>> = {
  "blanks and no mark": `{{ .Prompt }}${" ".repeat(LONG)}`,
  "blanks in a mark that nothing closes": `{{ .Prompt }}{{${" ".repeat(LONG)}`,
  "marks that nothing closes": `{{ .Prompt }}${"{{ ".repeat(LONG / 3)}`,
  "conditions that nothing closes": "{{if ".repeat(LONG / 5),
  "a call that is written at a great length": `{{ .Prompt }}{{ range .ToolCalls }}${"<a>".repeat(LONG / 3)}${CALL}{{ end }}`,
  "the same in Jinja": `{% for m in messages %}{{ m.content }}{% for call in m.tool_calls %}${"<a>".repeat(
    LONG / 3,
  )}{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}{% endfor %}`,
}

describe("a template that means harm is read in time to its length", () => {
  // By the square of it each of them would take minutes, and the test end by its limit.
  test.for(Object.keys(TEMPLATES))("%s", (name) => {
    let seen: string | undefined
    try {
      seen = inferFormat(TEMPLATES[name]!).format?.id
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: expect.stringMatching(/^TEMPLATE_/) as string })
    }
    expect(seen).toBeUndefined()
  })
})
