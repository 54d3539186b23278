import type { EvaluationReport, EvaluationFigures, Grade, TaskFigures, TrialResult, Verdict } from "@toolwright/toolbox"
import type { TranscriptLine } from "./transcript.ts"

/**
 * An evaluation as a page in one file: nothing is fetched for it, and no script runs in it.
 *
 * @param transcripts what was said and done in the runs of trials, by run
 */
export function evaluationPage(
  report: EvaluationReport,
  transcripts: ReadonlyMap<string, readonly TranscriptLine[]> = new Map(),
): string {
  const { suite, description, id, startedAt, trials } = report
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256").update(STYLE).digest("base64")
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(suite)}: evaluation</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escaped(suite)} ${badge(report.reached ? "pass" : report.open > 0 ? "error" : "fail", verdictOf(report))}</h1>
${description === undefined ? "" : `<p>${escaped(description)}</p>`}
<p class="quiet">${escaped(id)}, begun ${escaped(startedAt.slice(0, 16).replace("T", " "))} UTC; ${counted(report)}</p>
</header>
<main>
${modelTable(report)}
${taskTable(report)}
<h2>Trials</h2>
${trials.map((trial) => trialPart(trial, transcripts.get(trial.run ?? "") ?? [])).join("\n")}
</main>
</body>
</html>
`
}

function verdictOf({ reached, open, state }: EvaluationReport): string {
  if (reached) return "reached"
  if (open === 0) return "not reached"
  return state === "running" ? "under way" : "not measured in full"
}

function counted({ planned, open, threshold, imported }: EvaluationReport): string {
  const from = imported === true ? "; it came in as a file, whose trials these are" : ""
  const left = open === 0 ? "" : `, ${open} of them not measured`
  return `${planned} trials${left}; ${percent(threshold)} have to pass${from}`
}

function modelTable({ models }: EvaluationReport): string {
  const last = Math.max(1, ...models.flatMap(({ passAt }) => Object.keys(passAt).map(Number)))
  const many = last > 1
  const head = ["model", "passed", "of all, likely", ...(many ? [`pass@${last}`, `pass^${last}`] : [])]
  const rows = models.map((model) => [
    `${escaped(model.model)} ${badge(model.reached ? "pass" : "fail", model.reached ? "reached" : "not reached")}`,
    shareOf(model),
    model.interval.map(percent).join(" – "),
    ...(many ? [said(model.passAt[last]), said(model.passAll[last])] : []),
    model.score === undefined ? "–" : model.score.toFixed(2),
    `${model.inputTokens} in, ${model.outputTokens} out`,
    seconds(model.milliseconds),
  ])
  return `<h2>Models</h2>\n${table([...head, "score", "tokens", "time, middle"], rows)}`
}

function taskTable({ tasks, models }: EvaluationReport): string {
  const cell = (figures: TaskFigures | undefined): string =>
    figures === undefined
      ? "–"
      : `<span class="${figures.measured === 0 ? "error" : figures.passed === figures.measured ? "pass" : "fail"}">${shareOf(figures)}</span>`
  const rows = [...Map.groupBy(tasks, ({ task }) => task)].map(([name, ofTask]) => [
    escaped(name),
    ...models.map(({ model }) => cell(ofTask.find((each) => each.model === model))),
  ])
  return `<h2>Tasks</h2>\n${table(["task", ...models.map(({ model }) => escaped(model))], rows)}`
}

function shareOf({ passed, measured, errors }: EvaluationFigures): string {
  if (measured === 0) return errors === 0 ? "–" : `${errors} not measured`
  return `${passed} of ${measured}${errors === 0 ? "" : `, ${errors} not measured`}`
}

function trialPart(trial: TrialResult, transcript: readonly TranscriptLine[]): string {
  const { task, model, trial: number, run, outcome, verdict, answer, grades, error, changed } = trial
  const facts = [
    outcome === undefined ? "" : `ended as ${escaped(outcome)}`,
    `${trial.calls} calls in ${trial.rounds} rounds`,
    seconds(trial.milliseconds),
    changed.length === 0 ? "" : `changed ${escaped(changed.slice(0, 20).join(", "))}`,
    run === undefined ? "" : `<code>toolwright runs show ${escaped(run)}</code>`,
  ].filter((fact) => fact !== "")
  return `<details>
<summary>${badge(verdict, WORDS[verdict])} ${escaped(task)} <span class="quiet">${escaped(model)}, trial ${number}${scored(trial.score)}</span></summary>
<p class="quiet">${facts.join("; ")}</p>
${error === undefined ? "" : `<p class="error">${escaped(error.code)}: ${escaped(error.message)}</p>`}
${grades.length === 0 ? "" : gradeList(grades)}
${answer.trim() === "" ? "" : `<h3>Answer</h3><pre>${escaped(answer)}</pre>`}
${transcript.length === 0 ? "" : `<h3>What it did</h3><ol>${transcript.map(lineOf).join("")}</ol>`}
</details>`
}

function gradeList(grades: readonly Grade[]): string {
  const items = grades.map(({ grader, verdict, reason, score, parts }) => {
    const whole = score === undefined || score === 0 || score === 1
    const judged = `${escaped(grader)}${whole ? "" : scored(score)}`
    const inner = parts === undefined ? "" : gradeList(parts)
    return `<li>${badge(verdict, WORDS[verdict])} ${judged}: <span class="quiet">${escaped(reason)}</span>${inner}</li>`
  })
  return `<ul>${items.join("")}</ul>`
}

function lineOf({ kind, text, result, failed }: TranscriptLine): string {
  if (kind === "said") return `<li><pre>${escaped(text)}</pre></li>`
  const answer = result === undefined ? "" : `<pre class="${failed === true ? "fail" : ""}">${escaped(result)}</pre>`
  return `<li><code>${escaped(text)}</code>${answer}</li>`
}

const WORDS: Record<Verdict, string> = { pass: "passed", fail: "failed", error: "not measured" }

const badge = (verdict: Verdict, text: string): string => `<span class="badge ${verdict}">${text}</span>`
const percent = (share: number): string => `${Math.round(share * 100)} %`
const said = (chance: number | undefined): string => (chance === undefined ? "–" : percent(chance))
const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`
const scored = (score: number | undefined): string => (score === undefined ? "" : `, ${score.toFixed(2)}`)

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]): string => row.map((cell) => `<td>${cell}</td>`).join("")
  const titles = head.map((title) => `<th scope="col">${title}</th>`).join("")
  const body = rows.map((row) => `<tr>${cells(row)}</tr>`).join("\n")
  return `<div class="wide" tabindex="0"><table>
<thead><tr>${titles}</tr></thead>
<tbody>
${body}
</tbody>
</table></div>`
}

/** As text; what would turn the direction of a line around, or hide in it, is shown as what it is. */
function escaped(value: string): string {
  return value.replaceAll(/[&<>"'\p{Cc}\p{Cf}]/gu, (character) => {
    if (character === "\n" || character === "\t") return character
    const code = character.codePointAt(0)!
    return /[&<>"']/.test(character) ? `&#${code};` : `\\u{${code.toString(16)}}`
  })
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --quiet: #5b6270; --pass: #15702f; --fail: #b3261e; --error: #8a5a00 }
@media (prefers-color-scheme: dark) { :root { --quiet: #a3abb8; --pass: #6fd48b; --fail: #ff9a92; --error: #f0c061 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.5rem; margin: 0 }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } h3 { font-size: .95rem; margin: 1rem 0 .3rem }
.quiet { color: var(--quiet) } .pass { color: var(--pass) } .fail { color: var(--fail) } .error { color: var(--error) }
.badge { font-size: .8rem; font-weight: 600; border: 1px solid; border-radius: 1rem;
  padding: 0 .55rem; white-space: nowrap }
.wide { overflow-x: auto } table { border-collapse: collapse; min-width: 60% }
th, td { text-align: left; padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums }
th { font-weight: 600; color: var(--quiet); font-size: .85rem }
details { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem; margin: .5rem 0 }
summary { cursor: pointer }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto;
  background: #8881; padding: .5rem; border-radius: .3rem; margin: .3rem 0 }
code { overflow-wrap: anywhere } ul, ol { padding-left: 1.4rem } li { margin: .3rem 0 }
`
