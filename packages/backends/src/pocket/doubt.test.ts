import { afterAll, beforeAll, expect, it } from "vitest"
import { formatterById } from "@toolwright/toolformat"
import type { LlamaBackend } from "../llama/backend.ts"
import { certaintyOf, isIdle, isWorse, lineFor, readDoubtData, type PocketQuestion } from "./doubt.ts"
import { EVIDENCE } from "./evidence.ts"
import { openPocket } from "./open.ts"
import { opinionOf, valuesIn } from "./second-opinion.ts"
import { POCKET_TOOLS } from "./tools.ts"

let backend: LlamaBackend
let asked: PocketQuestion[] = []
let answer: number | undefined
beforeAll(async () => {
  backend = await openPocket({
    doubting: {
      words: () => "Did you mean?",
      choose(question) {
        asked.push(question)
        return Promise.resolve(answer)
      },
    },
  })
})
afterAll(() => backend.close())

async function reply(content: string, given?: number) {
  asked = []
  answer = given
  let text = ""
  let end: { certainty?: number; declined?: true } = {}
  for await (const event of backend.infer({ messages: [{ role: "user", content }] })) {
    if (event.type === "text-delta") text += event.text
    if (event.type === "end") end = event
  }
  return { text, end, call: formatterById("hermes").parse(text, { tools: [] }).calls[0] }
}

it("makes a call that it is sure of unasked, and says how sure", async () => {
  const { call, end } = await reply('add a line "Made with care." at the end of README.md')
  expect(call).toMatchObject({ name: "append_file", arguments: { path: "README.md", content: "Made with care." } })
  expect(asked).toEqual([])
  expect(end.certainty).toBeGreaterThan(0.885)
})

it("asks where it is not sure, with two readings, and makes the one that is chosen or none", async () => {
  const doubtful = "look for port everywhere, or rather count it"
  // Nobody chooses: it has asked, and nothing of it is a call.
  expect(await reply(doubtful)).toMatchObject({ text: "Did you mean?", end: { declined: true }, call: undefined })
  const [question] = asked
  expect(question!.certainty).toBeLessThan(0.7)
  expect(question!.readings.length).toBeGreaterThan(0)
  const last = question!.readings.length - 1
  const { call } = await reply(doubtful, last)
  expect({ name: call?.name, arguments: call?.arguments }).toEqual(question!.readings[last])
})

it("never runs what is hardly a request it knows", async () => {
  for (const request of ["undo the last change to notes.txt", "alphabetize todo.txt", "turn notes.txt into a table"]) {
    const { call } = await reply(request)
    expect([request, call]).toEqual([request, undefined])
  }
})

it("has its data made for what is measured, of the tools that it knows", async () => {
  const { calibration, opinion } = await readDoubtData()
  expect(calibration.evidence).toEqual([...EVIDENCE])
  expect(opinion.classes).toEqual(expect.arrayContaining(["none", ...POCKET_TOOLS]))
  const sure = EVIDENCE.map(() => 0)
  expect(certaintyOf(sure, calibration)).toBeGreaterThan(0.9)
  // The tool itself, and what the words ask for, each make a difference.
  for (const at of [1, 2, 5, 6])
    expect(certaintyOf(sure.with(at, -4), calibration)).toBeLessThan(certaintyOf(sure, calibration))
  expect(lineFor({ name: "edit_file", arguments: {} }, calibration)).toBeGreaterThan(
    lineFor({ name: "search_grep", arguments: {} }, calibration),
  )
})

it("has a second opinion on words, and sees the values that are named", async () => {
  const { opinion } = await readDoubtData()
  const best = (text: string) => [...opinionOf(text, opinion).chances].toSorted((a, b) => b[1] - a[1])[0]![0]
  expect(best('add "x" to the end of a.txt')).toBe("append_file")
  expect(best("sort the lines in a.txt")).toBe("none")
  expect(opinionOf("show me the zzyzx of a.txt", opinion).unknown).toBe(1)
  expect(valuesIn(`put "in the garden" before line 3 in 'my poem.txt' and src/a.ts.`)).toEqual([
    "in the garden",
    "my poem.txt",
    "3",
    "src/a.ts",
  ])
})

it("lets no second reading destroy what the first leaves alone", () => {
  const read = { name: "read_text_file", arguments: { path: "a.js" } }
  const gone = { name: "delete_file", arguments: { path: "a.js" } }
  expect([isWorse(read, gone), isWorse(gone, gone), isWorse(gone, read), isWorse(read, undefined)]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

it("offers no reading that would change nothing or be refused", async () => {
  const edit = (old_text: string, new_text: string) => isIdle({ name: "edit_file", arguments: { old_text, new_text } })
  expect([edit("milk", "milk"), edit("milk", "")]).toEqual([true, false])
  const insert = (place: object) => isIdle({ name: "insert_lines", arguments: { path: "a", content: "b", ...place } })
  expect([insert({}), insert({ after_line: 1 })]).toEqual([true, false])
  expect(isIdle({ name: "read_text_file", arguments: { path: "a.txt" } })).toBe(false)
  await reply("remove the line milk from shopping.txt")
  const [question] = asked
  expect(question!.readings.length).toBeGreaterThan(0)
  expect(question!.readings.filter(isIdle)).toEqual([])
})
