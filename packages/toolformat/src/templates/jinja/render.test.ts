import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import parity from "./fixtures/python-parity.json" with { type: "json" }
import { TemplateError } from "./errors.ts"
import { parseTemplate } from "./parse-template.ts"
import { renderWithData } from "./render.ts"

const now = (): Date => new Date(2026, 0, 1)
const render = (template: string, data: Record<string, unknown> = {}, limits = {}): string =>
  renderWithData(parseTemplate(template), data, { now, limits })

function failureOf(run: () => unknown): TemplateError {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof TemplateError) return thrown
    throw thrown
  }
  throw new Error("It did not fail.")
}

describe("every construct renders as Python's Jinja renders it", () => {
  test.each(parity.cases as { template: string; text?: string; error?: string }[])(
    "$template",
    ({ template, text, error }) => {
      if (text !== undefined) expect(render(template, parity.context)).toBe(text)
      else expect(failureOf(() => render(template, parity.context)).reason).toBe(error)
    },
  )
})

describe("failures", () => {
  test("name line and column", () => {
    expect(failureOf(() => render("a\nb {{ x.y.z }}"))).toMatchObject({ code: "TEMPLATE_FAILED", line: 2, column: 8 })
    expect(failureOf(() => render("{% if %}"))).toMatchObject({ code: "TEMPLATE_SYNTAX", line: 1, column: 7 })
    expect(failureOf(() => render("\n{{ raise_exception('no') }}"))).toMatchObject({
      code: "TEMPLATE_REFUSED",
      line: 2,
      reason: "no",
    })
  })

  test.each([
    "{% if x",
    "{{ 'a }}",
    "{{ (1 }}",
    "{{ 1 + }}",
    "{# never closed",
    "{% raw %}x",
    "{% for x %}{% endfor %}",
    "{{ a b }}",
    "{% include 'x' %}",
    "{{ ) }}",
    "{% endif %}",
  ])("malformed: %s", (template) => {
    expect(failureOf(() => parseTemplate(template)).code).toBe("TEMPLATE_SYNTAX")
  })
})

describe("a template cannot reach out or run away", () => {
  test.each([
    "{{ d.constructor }}",
    "{{ d.__proto__ }}",
    "{{ 'x'.constructor }}",
    "{{ [].__proto__ }}",
    "{{ d['constructor'] }}",
    "{{ range.constructor }}",
    "{{ d.hasOwnProperty }}",
    "{{ d|attr('constructor') }}",
    "{{ constructor }}",
    "{{ __proto__ }}",
    "{{ toString }}",
  ])("%s is undefined", (template) => {
    expect(render(template, { d: { a: 1 } })).toBe("")
  })

  test("neither as filter nor as test nor through format fields", () => {
    expect(failureOf(() => render("{{ 1|constructor }}")).reason).toBe("No filter named 'constructor'.")
    expect(failureOf(() => render("{{ 1 is toString }}")).reason).toBe("No test named 'toString'.")
    expect(render("{{ '{0.constructor}'.format('x') }}")).toBe("")
  })

  test("it works on copies", () => {
    const data = { list: [1], dict: { a: 1 } }
    expect(render("{% set _ = list.append(2) %}{% set _ = dict.update({'b': 2}) %}{{ list }}{{ dict }}", data)).toBe(
      "[1, 2]{'a': 1, 'b': 2}",
    )
    expect(data).toEqual({ list: [1], dict: { a: 1 } })
  })

  test.each([
    ["steps", "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"],
    ["output", "{% for a in range(9999) %}{{ 'x' * 9999 }}{% endfor %}"],
    ["doubling", "{% set ns = namespace(t='x') %}{% for a in range(99) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}"],
    ["repetition", "{{ 'x' * 10 ** 12 }}"],
    ["repetition of a list", "{{ [0] * 10 ** 12 }}"],
    ["range", "{{ range(10 ** 9)|list }}"],
    ["recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"],
    ["recursion through a loop", "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"],
    ["padding", "{{ 'x'.ljust(10 ** 9) }}"],
    ["format width", "{{ '{:999999999}'.format(1) }}"],
    [
      "doubling a list",
      "{% set ns = namespace(t=[1]) %}{% for a in range(99) %}{% set ns.t = ns.t + ns.t %}{% endfor %}",
    ],
    ["a nested expression", `{{ ${"(".repeat(20_000)}1${")".repeat(20_000)} }}`],
    ["data that contains itself", "{{ loopy }}"],
  ])("bounded: %s", (_name, template) => {
    const loopy: { self?: unknown } = {}
    loopy.self = loopy
    const data = template.includes("loopy") ? { loopy } : {}
    expect(failureOf(() => render(template, data, { maxSteps: 300_000, maxOutput: 300_000 })).code).toBe(
      "TEMPLATE_LIMIT",
    )
  })

  test("any text parses or fails with a place", () => {
    const piece = fc.constantFrom(
      "{{",
      "}}",
      "{%",
      "%}",
      "{#",
      "#}",
      "-",
      " if ",
      " for ",
      " x ",
      " in ",
      "(",
      ")",
      "|",
      ".",
      "'",
      "\n",
      "endif",
      "endfor",
      "set",
      "=",
      "raw",
      "1",
      "is",
      "not",
      "macro",
      "a",
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
        try {
          render(pieces.join(""), {}, { maxSteps: 10_000 })
        } catch (thrown) {
          if (!(thrown instanceof TemplateError)) throw thrown
        }
      }),
      { numRuns: 2000 },
    )
  })

  test("text without tags stays as it is, but for the last line break", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll("{", "").replace(/\r\n?/g, "\n")
        expect(render(plain)).toBe(plain.replace(/\n$/, ""))
      }),
    )
  })

  test("data comes out as the JSON it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(render("{{ v|tojson }}", { v: value }))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
