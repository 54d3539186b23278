import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { formatById } from "../selector/index.ts"
import { inferFormat, type FormatInference } from "./infer.ts"
import { readOf } from "./judge.ts"
import { renderingsOf } from "./renderings.ts"

const FOLDER = new URL("../../../../../shared/data/templates/", import.meta.url)
const PAGE = new URL("../../../../docs/inferred-formats.md", import.meta.url)
const present = existsSync(FOLDER)
const SETTINGS = { bosToken: "<BOS>", eosToken: "<EOS>" }

interface Row {
  template: string
  inference: FormatInference
  /** How many of the shown probes the format by hand reads, where there is one. */
  byHand: number | undefined
}

/** Official templates, those that know no tools left out. */
function rows(): Row[] {
  const files = ["", "vllm/", "ollama/"].flatMap((folder) =>
    readdirSync(new URL(folder, FOLDER)).map((file) => `${folder}${file}`),
  )
  return files
    .filter((file) => /\.jinja2?$/.test(file))
    .toSorted()
    .map((template) => {
      const source = readFileSync(new URL(template, FOLDER), "utf8")
      const inference = inferFormat(source, SETTINGS)
      const { recognised, judgement } = inference
      const byHand =
        recognised === undefined || judgement === undefined
          ? undefined
          : readOf(formatById(recognised), renderingsOf(source, SETTINGS))
      return { template, inference, byHand }
    })
    .filter(({ inference }) => inference.judgement !== undefined || inference.recognised !== undefined)
}

function line({ template, inference, byHand }: Row): string {
  const { format, certainty, judgement, recognised, same, unseen } = inference
  const name = template.replace(/(?:_chat_template)?\.jinja2?$/, "")
  if (judgement === undefined)
    return `| ${name} | – | – | – | ${recognised ?? "–"} | ${unseen[0]?.split(":")[0] ?? ""} |`
  const hand =
    recognised === undefined
      ? "–"
      : `${recognised}: ${same.includes(recognised) ? "the same call" : "another call"}, reads ${byHand}`
  const missing = judgement.unread.length === 0 ? "–" : `not read back: ${judgement.unread.join(", ")}`
  return (
    `| ${name} | ${format?.calls[0]?.codec} | ${certainty} | ${judgement.read} of ${judgement.shown} | ${hand} | ` +
    `${missing} |`
  )
}

describe.skipIf(!present)("over all official templates (skipped without ../shared/data)", () => {
  const all = present ? rows() : []
  const shown = all.filter(({ inference }) => inference.judgement !== undefined)

  it("nine in ten of those that show calls give the same calls on everything they show, at every cut", () => {
    const exact = shown.filter(({ inference }) => inference.judgement!.read === inference.judgement!.shown)
    expect(shown.length).toBeGreaterThan(80)
    expect(exact.length / shown.length).toBeGreaterThanOrEqual(0.9)
  })

  it("what is inferred reads no less than the format by hand, with few exceptions", () => {
    const worse = shown.filter(({ inference, byHand }) => inference.judgement!.read < (byHand ?? 0))
    expect(worse.map(({ template }) => template)).toEqual([])
  })

  it("the page lists them all (else: UPDATE_DOCS=1 and run this test again)", () => {
    const table = [
      "| template | codec | certainty | read back | by hand | else |",
      "| --- | --- | --- | --- | --- | --- |",
      ...all.map(line),
    ].join("\n")
    const text = readFileSync(PAGE, "utf8")
    const [before, , after] = text.split(/<!-- table (?:begin|end) -->/)
    const wanted = `${before}<!-- table begin -->\n${table}\n<!-- table end -->${after}`
    if (process.env.UPDATE_DOCS === "1") writeFileSync(PAGE, wanted)
    else expect(text).toBe(wanted)
  })
})
