import { isDeepStrictEqual } from "node:util"
import type { InferRequest } from "../model/backend.ts"
import { assertionError, type Place } from "./assertion.ts"
import { jsonIn, readJsonPath } from "./json-path.ts"
import type { CountCheck, Expectation, TextCheck, ToolsCheck } from "./screenplay.ts"
import { sinceLastReply, textOfSubject, type Subject } from "./subjects.ts"

const SUBJECTS: Record<Subject, string> = {
  system: "the system prompt",
  user: "the first user message",
  last: "the last message",
  result: "what came back since the last reply",
  any: "the messages",
}

/**
 * Checks what a step expects of a request.
 *
 * @throws ToolwrightError `SCREENPLAY_ASSERTION` at the first expectation that does not hold, with what was there
 */
export function checkExpectations(expected: readonly Expectation[], request: InferRequest, place: Place): void {
  for (const expectation of expected) {
    for (const subject of Object.keys(SUBJECTS) as Subject[]) {
      const check = expectation[subject]
      if (check !== undefined) checkText(check, textOfSubject(request.messages, subject), SUBJECTS[subject], place)
    }
    checkRequest(expectation, request, place)
  }
}

function checkRequest(expectation: Expectation, request: InferRequest, place: Place): void {
  const { success, messages, results, tools, toolChoice, grammar, jsonSchema } = expectation
  const since = sinceLastReply(request.messages)
  const offered = (request.tools ?? []).map((tool) => tool.function.name)
  const came = since.filter((message) => message.role === "tool").length
  if (success !== undefined) checkSuccess(success, request, place)
  if (messages !== undefined) checkCount(messages, request.messages.length, "messages", place)
  if (results !== undefined) checkCount(results, came, "tool results since the last reply", place)
  if (tools !== undefined) checkTools(tools, offered, place)
  if (toolChoice !== undefined && request.toolChoice !== toolChoice) {
    throw assertionError(place, `the tool choice '${toolChoice}'`, request.toolChoice ?? "no tool choice")
  }
  if (typeof grammar === "boolean") checkPresence(grammar, request.grammar, "a grammar", place)
  else if (grammar !== undefined) checkText(grammar, request.grammar ?? "", "the grammar", place)
  if (jsonSchema !== undefined) checkPresence(jsonSchema, JSON.stringify(request.jsonSchema), "a JSON Schema", place)
}

function checkSuccess(success: boolean, request: InferRequest, place: Place): void {
  const last = request.messages.findLast((message) => message.role === "tool")
  const was = last === undefined ? "no tool result" : `${last.success ? "success" : "failure"}: ${last.content}`
  if (last?.success !== success)
    throw assertionError(place, `the last tool result to be a ${success ? "success" : "failure"}`, was)
}

function checkText(check: TextCheck, text: string, what: string, place: Place): void {
  const { contains, excludes, matches, equals, json } =
    typeof check === "string" ? { contains: check } : check instanceof RegExp ? { matches: check } : check
  for (const part of list(contains)) {
    if (!text.includes(part)) throw assertionError(place, `${what} to contain ${JSON.stringify(part)}`, text)
  }
  for (const part of list(excludes)) {
    if (text.includes(part)) throw assertionError(place, `${what} not to contain ${JSON.stringify(part)}`, text)
  }
  for (const pattern of list(matches)) {
    const isText = typeof pattern === "string"
    const [source, flags] = isText ? [pattern, "m"] : [pattern.source, pattern.flags.replaceAll(/[gy]/g, "")]
    if (!new RegExp(source, flags).test(text))
      throw assertionError(place, `${what} to match ${isText ? `/${pattern}/` : String(pattern)}`, text)
  }
  if (equals !== undefined && text !== equals)
    throw assertionError(place, `${what} to be ${JSON.stringify(equals)}`, text)
  if (json !== undefined) checkJson(json, text, what, place)
}

function checkJson(json: Readonly<Record<string, unknown>>, text: string, what: string, place: Place): void {
  const value = jsonIn(text)
  for (const [path, wanted] of Object.entries(json)) {
    const found = readJsonPath(value, path)
    if (!isDeepStrictEqual(found, wanted)) {
      const there =
        value === undefined ? `no JSON: ${text}` : `${JSON.stringify(found) ?? "no value"} in ${JSON.stringify(value)}`
      throw assertionError(place, `${what} to hold ${JSON.stringify(wanted)} at ${path}`, there)
    }
  }
}

function checkTools(check: ToolsCheck, offered: readonly string[], place: Place): void {
  const was = offered.length === 0 ? "no tools" : `the tools ${offered.join(", ")}`
  if (check === false) {
    if (offered.length > 0) throw assertionError(place, "no tools to be offered natively", was)
    return
  }
  const { exactly, include = [], exclude = [] } = check
  if (exactly !== undefined && !isDeepStrictEqual(exactly.toSorted(), offered.toSorted())) {
    throw assertionError(place, `exactly these tools: ${exactly.join(", ")}`, was)
  }
  for (const name of include)
    if (!offered.includes(name)) throw assertionError(place, `the tool ${name} to be offered`, was)
  for (const name of exclude)
    if (offered.includes(name)) throw assertionError(place, `the tool ${name} not to be offered`, was)
}

function checkCount(check: CountCheck, count: number, what: string, place: Place): void {
  const { min = 0, max = Infinity } = typeof check === "number" ? { min: check, max: check } : check
  if (count >= min && count <= max) return
  const wanted = min === max ? `${min}` : max === Infinity ? `at least ${min}` : `${min} to ${max}`
  throw assertionError(place, `${wanted} ${what}`, String(count))
}

function checkPresence(wanted: boolean, value: string | undefined, what: string, place: Place): void {
  if ((value !== undefined) === wanted) return
  throw assertionError(place, wanted ? what : `no ${what.replace(/^an? /, "")}`, value ?? "")
}

function list<Item extends string | RegExp>(value: Item | readonly Item[] | undefined): readonly Item[] {
  return value === undefined ? [] : Array.isArray(value) ? (value as readonly Item[]) : [value as Item]
}
