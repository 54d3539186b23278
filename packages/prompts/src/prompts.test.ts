import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { loadPrompts, parsePrompt, promptDefinition, renderPrompt, renderPromptText } from "./index.ts"
import { readPrompts } from "./load.ts"
import { shippedPrompts } from "./shipped.ts"

const REVIEW = `name: code_review
description: Reviews code
arguments:
  - name: code
    required: true
    description: The code
  - name: language
    required: false
    description: Its language
template: |
  Review the following {language} code:
  {code}
  Answer as {"verdict": "..."}.
`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prompts-"))
  return () => rmSync(folder, { recursive: true, force: true })
})
const put = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

describe("a prompt in YAML", () => {
  test("replaces its arguments and leaves every other brace alone, also in what is put in", async () => {
    const prompt = await parsePrompt(REVIEW, "review.yaml")
    const { success, messages } = renderPrompt(prompt, { code: "a={1:2} {language}", language: "python" })
    expect(success).toBe(true)
    expect(messages).toEqual([
      {
        role: "user",
        content: 'Review the following python code:\na={1:2} {language}\nAnswer as {"verdict": "..."}.\n',
      },
    ])
  })

  test("leaves nothing of an optional argument that was not given", async () => {
    expect(renderPromptText(await parsePrompt(REVIEW, "r.yaml"), { code: "x" })).not.toContain("{language}")
  })

  test("names every missing and unknown argument", async () => {
    const { success, error, messages } = renderPrompt(await parsePrompt(REVIEW, "r.yaml"), { langauge: "python" })
    expect({ success, messages }).toEqual({ success: false, messages: [] })
    expect(error).toBe(
      "The required argument 'code' is missing (The code). There is no argument 'langauge'. Did you mean 'language'?",
    )
  })

  test("shows its definition", async () => {
    expect(promptDefinition(await parsePrompt(REVIEW, "r.yaml"))).toEqual({
      name: "code_review",
      description: "Reviews code",
      arguments: [
        { name: "code", required: true, description: "The code" },
        { name: "language", required: false, description: "Its language" },
      ],
      tags: [],
    })
  })
})

test("a prompt in Markdown has conditions and loops", async () => {
  const prompt = await parsePrompt(
    "---\narguments: [{ name: items, required: true }]\n---\n{% for item in items %}- {{ item }}\n{% endfor %}",
    "list.md",
  )
  expect(prompt).toMatchObject({ name: "list", engine: "jinja" })
  expect(renderPromptText(prompt, { items: ["a", "b"] })).toBe("- a\n- b\n")
  expect(renderPrompt(await parsePrompt("---\nname: bad\n---\n{{ nothing.at.all() }}", "bad.md")).success).toBe(false)
})

test.each([
  "{{ nope }}",
  "{% if nope %}yes{% endif %}",
  "{% for each in nope %}{{ each }}{% endfor %}",
  "{{ nope | upper }}",
  "{{ nope == 'x' }}",
  "{{ 'x' ~ nope }}",
  "{{ thing.nope }}",
])("a name that it does not declare is a mistake, never an empty place: %s", async (template) => {
  const prompt = await parsePrompt(`---\narguments: [{ name: thing }]\n---\n${template}`, "p.md")
  const { success, error } = renderPrompt(prompt, { thing: { a: 1 } })
  expect({ success, error }).toEqual({
    success: false,
    error: expect.stringMatching(/nope.*line 1, column \d+\)/),
  })
})

test("what may be missing can be asked for, and an argument that was not given is empty text", async () => {
  const text =
    "---\narguments: [{ name: thing }]\n---\n{{ nope | default('none') }} {{ nope is defined }} [{{ thing }}]{% " +
    "if thing %}!{% endif %}"
  expect(renderPromptText(await parsePrompt(text, "p.md"))).toBe("none False []")
})

describe("a start with broken prompts fails", () => {
  test.each([
    ["a.yaml", "name: [", "a.yaml"],
    ["a.yaml", "name: x\ntemplate: ''\n", "'template' must be a text"],
    ["a.yaml", "name: x y\ntemplate: t\n", "'name' must be a word"],
    ["a.yaml", "name: x\ntemplate: t\nargs: []\n", "unknown key 'args'"],
    ["a.yaml", "name: x\ntemplate: t\narguments: [{ name: a }, { name: a }]\n", "stands there twice"],
    ["a.md", "no front matter", "front matter"],
  ])("%s: %j", async (name, text, expected) => {
    put(name, text)
    await expect(loadPrompts({ folders: [folder] })).rejects.toMatchObject({
      code: "INVALID_PROMPT",
      message: expect.stringContaining(expected),
    })
    await expect(readPrompts(folder)).rejects.toThrow(name)
  })

  test("naming both files where two prompts have one name", async () => {
    put("one.yaml", REVIEW)
    put("sub/two.yaml", REVIEW)
    await expect(loadPrompts({ folders: [folder] })).rejects.toMatchObject({
      code: "DUPLICATE_PROMPT",
      message: expect.stringMatching(/one\.yaml.*two\.yaml/),
    })
  })

  test("and a folder that is not there is named", async () => {
    await expect(readPrompts(join(folder, "none"))).rejects.toThrow("none")
  })
})

test("a prompt of one's own replaces the shipped one of its name", async () => {
  put("review.yaml", REVIEW)
  const registry = await loadPrompts({ folders: [folder] })
  expect(registry.named("code_review").description).toBe("Reviews code")
  expect(() => registry.named("code_reviw")).toThrow(
    expect.objectContaining({ message: "Prompt 'code_reviw' not found", hint: "Did you mean 'code_review'?" }),
  )
})

test("the fifteen shipped prompts render, with all arguments and with the required ones alone", async () => {
  const prompts = (await loadPrompts()).list()
  expect(prompts.map(({ name }) => name).toSorted()).toEqual([
    "code_review",
    "coding_guidelines",
    "commit_message",
    "create_playbook",
    "create_pr_description",
    "explain_concept",
    "generate_playbook",
    "generate_structured_prompt",
    "implementation_guide",
    "implementation_guide_review",
    "python_coding_guidelines",
    "transcript_summary",
    "unit_tests",
    "update_documentation",
    "update_playbooks",
  ])
  expect(shippedPrompts()).toHaveLength(15)
  for (const prompt of prompts) {
    const all = Object.fromEntries(prompt.arguments.map(({ name }) => [name, `<${name}>`]))
    const required = Object.fromEntries(
      prompt.arguments.filter((argument) => argument.required).map(({ name }) => [name, `<${name}>`]),
    )
    const text = renderPromptText(prompt, all)
    for (const value of Object.values(all)) expect(text, prompt.name).toContain(value)
    expect(renderPromptText(prompt, required), prompt.name).not.toMatch(/\{[{%]|\{\w+\}|undefined/)
  }
})

test("the shipped prompts are what stands in their files (else: UPDATE_DOCS=1 and run this test again)", async () => {
  const file = join(import.meta.dirname, "shipped.json")
  const read = await readPrompts(join(import.meta.dirname, "../prompts"))
  const wanted = `${JSON.stringify(
    read.map(({ file: _file, ...prompt }) => prompt),
    null,
    2,
  )}\n`
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, wanted)
  else expect(readFileSync(file, "utf8")).toBe(wanted)
})
