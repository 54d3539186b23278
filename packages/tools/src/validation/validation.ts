import {
  failure,
  success,
  type JsonObject,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
  type JsonSchema,
} from "@toolwright/toolbox"
import { definePathTool } from "@toolwright/host/paths"
import { programDoubt, type ProcessHost } from "@toolwright/host/process"
import { plainOutput } from "@toolwright/host/text"
import type { CheckReport, Operation } from "./checks.ts"

const ABOUT: Record<Operation, string> = {
  syntax: "Every file can be parsed",
  tests: "The project's tests pass",
  "file-length": "No file is too long",
  "pre-commit": "The repository's pre-commit hook passes",
}
const OPERATIONS = Object.keys(ABOUT) as Operation[]

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    operation: {
      type: "string",
      enum: ["all", ...OPERATIONS],
      description: "One check, or all of them, which is meant when it is left out.",
    },
    file_paths: {
      type: "array",
      items: { type: "string" },
      description:
        "Files to check, from the workspace's top; all source files unless given. Tests always run as a whole.",
    },
  },
  oneOf: [
    { title: "all checks", description: "Make every check", properties: { operation: { const: "all" } } },
    ...OPERATIONS.map((operation) => ({
      title: operation,
      description: ABOUT[operation],
      properties: { operation: { const: operation } },
      required: ["operation"],
    })),
  ],
  additionalProperties: false,
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    passed: { type: "boolean" },
    complete: { type: "boolean", description: "Whether every check was made." },
    checks: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string", enum: OPERATIONS },
          status: { type: "string", enum: ["passed", "failed", "skipped"] },
          summary: { type: "string" },
          errors: { type: "array", items: { type: "object" } },
          duration_ms: { type: "number" },
        },
        required: ["name", "status", "summary", "errors"],
      },
    },
    errors: { type: "array", items: { type: "object" } },
  },
  required: ["passed", "complete", "checks", "errors"],
}

const ALIASES: NonNullable<ToolDefinition["aliases"]> = {
  arguments: {
    file_path: "file_paths",
    files: "file_paths",
    path: "file_paths",
    action: "operation",
    check: "operation",
  },
}

const EXAMPLES: NonNullable<ToolDefinition["examples"]> = [
  { description: "Make all checks", input: {} },
  { description: "Only the length of files", input: { operation: "file-length" } },
]

/** The `validation` tool: what must hold before a change is committed. */
export function createValidationTool(host: ProcessHost): ToolDefinition {
  return definePathTool({
    name: "validation",
    sets: ["owner"],
    title: "Validation",
    description: "Validate code files",
    category: "build",
    optionality: "required",
    brief: ["operation", "file_paths"],
    usageHint:
      "Run it after every change; without an operation it makes all checks. Correct what it reports, then run it " +
      "again; commit only after it passed.",
    tags: ["tests", "checks"],
    produces: ["validation report"],
    aliases: ALIASES,
    effects: { readOnly: false, idempotent: true, reads: ["file_paths[]"], writes: [] },
    role: "validates",
    parameters: PARAMETERS,
    outputSchema: OUTPUT,
    examples: EXAMPLES,
    actions: {
      argument: "operation",
      list: OPERATIONS.map((operation) => ({
        action: operation,
        description: ABOUT[operation],
        name: `validation_${operation.replace("-", "_")}`,
        examples: [{ description: ABOUT[operation], input: { operation } }],
      })),
    },
    timeoutMs: 900_000,
    // Sources are only read, and measured; tests and hooks are programs.
    doubts: async ({ operation }) =>
      operation === "syntax" || operation === "file-length" ? undefined : programDoubt(host),
    execute: (args, context) => validate(host, args, context),
  })
}

async function validate(host: ProcessHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const { check, chosenFiles } = await import("./checks.ts")
  const files = await chosenFiles(host, args.file_paths)
  const operations =
    args.operation === undefined || args.operation === "all" ? OPERATIONS : [args.operation as Operation]
  const checks: CheckReport[] = []
  for (const operation of operations) {
    context.progress({ message: ABOUT[operation], progress: checks.length, total: operations.length })
    context.signal.throwIfAborted()
    checks.push(await check(operation, { host, files, signal: context.signal }))
  }
  const failed = checks.filter((one) => one.status === "failed")
  const errors = failed.flatMap((one) => one.errors.map((error) => ({ check: one.name, ...error })))
  const data = { passed: failed.length === 0, complete: operations.length === OPERATIONS.length, checks, errors }
  const output = plainOutput(describe(checks))
  const modifiedFiles = checks.flatMap((one) => one.changed ?? [])
  if (checks.every((one) => one.status === "skipped")) {
    return failure({
      code: "NOTHING_CHECKED",
      message: "Nothing was validated: there was nothing to check with.",
      hint: "Write the files first, and tests for them.",
      output,
      data: { ...data, passed: false },
      modifiedFiles,
    })
  }
  if (failed.length === 0) return success({ output, data, modifiedFiles })
  const first = errors[0]
  return failure({
    code: "VALIDATION_FAILED",
    message:
      `Validation failed: ${failed.map((one) => one.name).join(", ")}.` +
      (first === undefined ? "" : ` ${place(first)}${first.message.split("\n")[0]}`),
    hint: "Correct what is reported, then validate again.",
    output,
    data,
    modifiedFiles,
    details: { errors },
  })
}

function describe(checks: readonly CheckReport[]): string {
  return checks
    .map((one) => {
      const errors = one.errors
        .slice(0, 20)
        .map((error) => `  - ${error.test === undefined ? "" : `${error.test}: `}${place(error)}${error.message}`)
      const more = one.errors.length > 20 ? [`  [... ${one.errors.length - 20} more in the data ...]`] : []
      return [
        `${one.name}: ${one.status.toUpperCase()}: ${one.summary}`,
        ...(one.status === "failed" ? [...errors, ...more] : []),
      ].join("\n")
    })
    .join("\n")
}

function place({ file, line }: { file?: string; line?: number }): string {
  if (file === undefined) return ""
  return line === undefined ? `${file}: ` : `${file}:${line}: `
}
