import { issuesIn, saidOf, type Mistake } from "@toolwright/agents"
import { describeFault, nearest, schemaFault, ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import { yamlFile, type YamlFile } from "../yaml-file.ts"
import type { Grader } from "./graders/grader.ts"
import { kindOf, KINDS, partsOf } from "./graders/grade.ts"
import { plannedTrials } from "./given.ts"
import { asModel, modelId, SUITE_SCHEMA, type Suite } from "./suite.ts"
import { fileFault } from "./trial-folder.ts"

const DEEPEST = 5
const MOST_TOLD = 20
const WEIGHT: JsonSchema = { type: "number", minimum: 0, maximum: 1_000 }

/**
 * Reads the YAML of a suite.
 *
 * @returns undefined where there is no such file
 * @throws ToolwrightError `INVALID_SUITE`, with every mistake and its line
 */
export async function suiteFile(path: string): Promise<Suite | undefined> {
  const file = await yamlFile(path, { code: "INVALID_SUITE", what: "suite" })
  return file === undefined ? undefined : readSuite(file.value, file.lineOf)
}

/** @throws ToolwrightError `INVALID_SUITE`, with every mistake */
export async function readSuite(value: unknown, lineOf?: YamlFile["lineOf"]): Promise<Suite> {
  const wrong = await issuesIn(SUITE_SCHEMA, value)
  const mistakes = wrong.length > 0 ? wrong : await mistakesIn(value as Suite)
  if (mistakes.length === 0) {
    const suite = value as Suite
    plannedTrials({ suite, folder: ".", models: (suite.models ?? [{}]).map(asModel) })
    return suite
  }
  const told = mistakes.slice(0, MOST_TOLD).map((mistake) => {
    const line = lineOf?.(mistake.path)
    return `- ${line === undefined ? "" : `line ${line}: `}${saidOf(mistake)}`
  })
  throw new ToolwrightError("INVALID_SUITE", `The suite cannot be tried:\n${[...new Set(told)].join("\n")}`, {
    hint: "docs/evaluations.md tells what a suite is made of; 'toolwright eval new' writes one to begin with.",
  })
}

async function mistakesIn({ models = [], tasks }: Suite): Promise<Mistake[]> {
  const ids = models.map(modelId)
  const twice = ids.flatMap((id, at) =>
    ids.indexOf(id) === at
      ? []
      : [{ path: `models[${at}]`, message: `another model is called '${id}' too: give one an 'id'` }],
  )
  const own: Mistake[] = []
  for (const [name, { graders, output, files = {} }] of Object.entries(tasks)) {
    for (const file of Object.keys(files)) {
      const wrong = fileFault(file)
      if (wrong !== undefined) own.push({ path: `tasks.${name}.files`, message: wrong })
    }
    const fault = output === undefined ? undefined : schemaFault(output)
    if (fault !== undefined) own.push({ path: `tasks.${name}.output`, message: describeFault(fault) })
    for (const [at, grader] of graders.entries())
      own.push(...(await graderMistakes(grader, `tasks.${name}.graders[${at}]`)))
  }
  return [...twice, ...own]
}

async function graderMistakes(grader: Grader, path: string, depth = 1): Promise<Mistake[]> {
  if (typeof grader !== "object" || grader === null) return [{ path, message: "it must be a grader" }]
  const unknown = Object.keys(grader).find((key) => !Object.hasOwn(KINDS, key) && key !== "name" && key !== "weight")
  const names = Object.keys(KINDS)
  if (unknown !== undefined) {
    const close = nearest(unknown, [...names, "name", "weight"])[0]
    const meant = close === undefined ? ` There are: ${names.join(", ")}.` : ` Did you mean '${close}'?`
    return [{ path: `${path}.${unknown}`, message: `there is no grader '${unknown}'.${meant}` }]
  }
  const found = kindOf(grader)
  const said = Object.keys(grader).filter((key) => Object.hasOwn(KINDS, key))
  if (found === undefined) return [{ path, message: `it says nothing to look at: one of ${names.join(", ")}` }]
  if (said.length > 1)
    return [{ path, message: `it says ${said.join(" and ")}, and may say one: make two graders of it` }]
  if (depth > DEEPEST) return [{ path, message: `graders stand in each other ${DEEPEST} deep at most` }]
  const at = `${path}.${found.name}`
  const issues = [
    ...(await prefixed(issuesIn(found.kind.schema, found.said), at)),
    ...(grader.name === undefined ? [] : await prefixed(issuesIn(NAME, grader.name), `${path}.name`)),
    ...(grader.weight === undefined ? [] : await prefixed(issuesIn(WEIGHT, grader.weight), `${path}.weight`)),
  ]
  if (issues.length > 0) return issues
  const own = (found.kind.mistakes?.(found.said) ?? []).map((message) => ({ path: at, message }))
  const within: Mistake[] = []
  for (const part of partsOf(grader))
    within.push(...(await graderMistakes(part.grader, `${path}.${part.path}`, depth + 1)))
  return [...own, ...within]
}

const NAME: JsonSchema = { type: "string", minLength: 1, maxLength: 200 }

async function prefixed(issues: Promise<Mistake[]>, at: string): Promise<Mistake[]> {
  return (await issues).map(({ path, message }) => ({
    path: path === "" ? at : `${at}${path.startsWith("[") ? "" : "."}${path}`,
    message,
  }))
}
