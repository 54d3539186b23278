import type { ToolDefinition } from "./model/tool.ts"
import { nearest } from "./nearest.ts"

/** What a tool may say of itself; the compiler holds that each field of a definition is here. */
const FIELDS: Readonly<Record<Exclude<keyof ToolDefinition, "handler"> | "execute" | "input", true>> = {
  name: true,
  description: true,
  category: true,
  optionality: true,
  parameters: true,
  input: true,
  outputSchema: true,
  execute: true,
  title: true,
  usageHint: true,
  examples: true,
  produces: true,
  consumes: true,
  tags: true,
  modes: true,
  effects: true,
  aliases: true,
  capabilities: true,
  role: true,
  sets: true,
  brief: true,
  does: true,
  asks: true,
  ruledAs: true,
  doubts: true,
  subjects: true,
  preview: true,
  reconcile: true,
  work: true,
  actions: true,
  actionOf: true,
  timeoutMs: true,
  maxOutputChars: true,
  provenance: true,
  changed: true,
  letIn: true,
}

/** What other libraries call a part of a tool, and what to write here. */
const OTHERS: Readonly<Record<string, string>> = {
  needsApproval: "Name the tool where it is used: permissions: { ask: [its name] }, with approve or approvals: 'wait'.",
  inputSchema: "Write parameters: …, with the same schema.",
  handler: "Write execute: …; it may return plain data or a result.",
}

/**
 * Why the fields are none. Passed over without a word, `needsApproval` would leave a tool to run unasked whose author
 * wanted to be asked, and `timeOutMs` one without its limit.
 */
export function faultInFields(specification: object): { message: string; hint: string } | undefined {
  const field = Object.keys(specification).find((key) => !Object.hasOwn(FIELDS, key))
  if (field === undefined) return lackIn(specification)
  const close = nearest(field, Object.keys(FIELDS))[0]
  const hint = Object.hasOwn(OTHERS, field)
    ? OTHERS[field]!
    : close === undefined
      ? `It may have ${Object.keys(FIELDS).slice(0, 16).join(", ")} and others: see docs/own-tools.md.`
      : `Did you mean '${close}'?`
  return { message: `a tool here has no '${field.slice(0, 50)}'.`, hint }
}

/** What a tool cannot do without, where its author's compiler did not say so. */
function lackIn(specification: object): { message: string; hint: string } | undefined {
  const { description, parameters, execute } = specification as Record<string, unknown>
  if (typeof description !== "string")
    return { message: "it has no description.", hint: "Say in a sentence what it does: models choose tools by it." }
  if (parameters === undefined)
    return { message: "it has no parameters.", hint: 'One without arguments says parameters: { type: "object" }.' }
  if (typeof execute !== "function")
    return { message: "it has no execute.", hint: "Write execute: (args) => …, which gives data or a result." }
  return undefined
}
