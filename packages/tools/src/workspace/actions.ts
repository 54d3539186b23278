import { failure, success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { posix } from "node:path"
import type { Workspace } from "@toolwright/host/paths"
import { toArtifact } from "./artifact.ts"
import { putElement, putField } from "./change.ts"
import { readArtifact, readField } from "./elements.ts"
import { emptyState, loadState, readIfThere, render, saveState, statePath, type ArtifactState } from "./state.ts"
import type { FileTemplates } from "./templates.ts"
import { checkSyntax } from "./syntax.ts"

/** The workspace that files are generated in, and the templates of its configuration. */
export interface ArtifactHost {
  readonly workspace: Workspace
  readonly templates?: FileTemplates
}

interface Change {
  state: ArtifactState
  /** What was done, in a few words: `function fibonacci added`. */
  done: string
}

/** Adds or replaces the element of a JSON artifact. */
export function writeArtifact(artifacts: ArtifactHost, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const element = readArtifact(artifactOf(args.json_artifact))
  return change(artifacts, args, signal, (before) => {
    const { file: state, replaced } = putElement(before, element)
    const name =
      "method" in element ? `method ${element.className}.${element.method.name}` : `${element.kind} ${element.name}`
    return { state, done: `${name} ${replaced ? "replaced" : "added"}` }
  })
}

/** Adds or replaces an element whose fields are the arguments of the call themselves. */
export function addElement(
  artifacts: ArtifactHost,
  type: string,
  args: JsonObject,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { action: _, path, overwrite, kind, ...data } = args
  const elementType =
    type === "class" && typeof kind === "string"
      ? kind
      : type === "function" && typeof data.class_name === "string"
        ? "method"
        : type
  return writeArtifact(
    artifacts,
    { path, overwrite, json_artifact: { element_type: elementType, element_data: data } },
    signal,
  )
}

export function addField(artifacts: ArtifactHost, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const field = readField(args, "")
  const className = String(args.class_name)
  return change(artifacts, args, signal, (before) => {
    const { file: state, replaced } = putField(before, className, field)
    return { state, done: `field ${className}.${field.name} ${replaced ? "replaced" : "added"}` }
  })
}

/** Begins a file that holds nothing but its documentation. */
export async function createFile(artifacts: ArtifactHost, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const { workspace } = artifacts
  const path = pathOf(workspace, args)
  if (args.overwrite !== true && (await readIfThere(workspace, path)) !== undefined) {
    throw new ToolwrightError("ALREADY_EXISTS", `${path} exists.`, {
      hint: 'Add to it with add_function, add_class and so on, or start over with "overwrite": true.',
    })
  }
  const state = emptyState(
    path,
    typeof args.docstring === "string" && args.docstring.trim() !== "" ? args.docstring : undefined,
  )
  return store(artifacts, { state, done: "file created" }, undefined, signal)
}

/** Declares a file finished, after a look at what is missing. */
export async function completeFile(
  artifacts: ArtifactHost,
  args: JsonObject,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { workspace } = artifacts
  const path = pathOf(workspace, args)
  const state = await loadState(workspace, path)
  if (state === undefined) throw missing(path)
  const empty = state.elements
    .filter((one) => "methods" in one && one.methods.length + one.fields.length === 0)
    .map((one) => one.name)
  if (state.elements.every((one) => one.kind === "import")) {
    return failure({
      code: "INCOMPLETE",
      message: `${path} has no function, class or variable yet.`,
      hint: `Add one: {"action": "add_function", "path": "${path}", "name": "…", "body": "…"}.`,
    })
  }
  const result = await store(artifacts, { state: { ...state, complete: true }, done: "file complete" }, state, signal)
  return empty.length === 0 || !result.success
    ? result
    : { ...result, output: `${result.output}\nClasses without members: ${empty.join(", ")}.` }
}

/** Reads a file, and its elements when it was made from artifacts. */
export async function readFile(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const path = pathOf(workspace, args)
  const { bytes } = await workspace.read(path)
  const content = bytes.toString("utf8")
  const state = await loadState(workspace, path, true).catch(() => undefined)
  const elements = state?.elements.map(toArtifact) ?? null
  return success({ output: content, data: { path, content, elements, complete: state?.complete ?? null } })
}

/** Lists the elements of a file, or, without one, all files that were made from artifacts. */
export async function listArtifacts(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  if (typeof args.path === "string" && args.path !== ".") {
    const path = pathOf(workspace, args)
    const state = await loadState(workspace, path, true)
    if (state === undefined) throw missing(path)
    const elements = state.elements.flatMap((one) => [
      { element_type: one.kind as string, name: one.name },
      ...("methods" in one
        ? one.methods.map((method) => ({ element_type: "method", name: `${one.name}.${method.name}` }))
        : []),
    ])
    const output = elements.map((one) => `${one.element_type} ${one.name}`).join("\n")
    return success({ output: output || "No elements yet.", data: { path, complete: state.complete, elements } })
  }
  const files: string[] = []
  const walked = workspace.walk(
    ".meta",
    (entry) => {
      if (entry.kind === "file" && entry.path.endsWith(".json")) files.push(entry.path.slice(0, -".json".length))
    },
    { sorted: true },
  )
  await walked.catch((thrown: unknown) => {
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "NOT_FOUND") throw thrown
  })
  return success({ output: files.join("\n") || "No file was made from artifacts yet.", data: { files } })
}

export async function createDirectory(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const path = pathOf(workspace, args)
  const { created } = await workspace.makeDirectory(path)
  return success({
    output: created ? `Created ${path}.` : `${path} was there already.`,
    data: { path, created },
    modifiedFiles: created ? [path] : [],
  })
}

async function change(
  artifacts: ArtifactHost,
  args: JsonObject,
  signal: AbortSignal,
  make: (state: ArtifactState) => Change,
): Promise<ToolResult> {
  const { workspace } = artifacts
  const path = pathOf(workspace, args)
  return oneAtATime(path, async () => {
    const before = args.overwrite === true ? undefined : await loadState(workspace, path)
    return store(artifacts, make(before ?? emptyState(path)), before, signal)
  })
}

async function store(
  artifacts: ArtifactHost,
  made: Change,
  before: ArtifactState | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { workspace } = artifacts
  const path = made.state.path
  const { text, state } = await render(made.state, artifacts.templates)
  const syntax = await checkSyntax(path, text, { signal })
  if (syntax.status === "failed") {
    return failure({
      code: "SYNTAX_ERROR",
      message:
        `Nothing was written: ${path} would have a syntax ` +
        `error${syntax.line === undefined ? "" : ` in line ${syntax.line}`}: ${syntax.message}.`,
      hint: `Correct the artifact and send it again. The file would be:\n${excerpt(text, syntax.line)}`,
      details: { path, ...(syntax.line === undefined ? {} : { line: syntax.line }) },
    })
  }
  const current = await readIfThere(workspace, path)
  const unchanged =
    current === text && before !== undefined && before.hash === state.hash && before.complete === state.complete
  if (!unchanged) await saveState(workspace, state, text)
  const elements = state.elements.map((one) => ({ element_type: one.kind, name: one.name }))
  const note = syntax.status === "skipped" ? `\nIts syntax was not checked: ${syntax.reason}.` : ""
  const holds = elements.map((one) => `${one.element_type} ${one.name}`).join(", ") || "nothing yet"
  return success({
    output: `${unchanged ? `${path} is unchanged` : `Wrote ${path}`}: ${made.done}. It holds ${holds}.${note}`,
    data: {
      path,
      created: current === undefined,
      changed: !unchanged,
      language: state.language,
      elements,
      complete: state.complete,
      state: statePath(path),
      syntax: syntax.status,
    },
    modifiedFiles: unchanged ? [] : [path, statePath(path)],
  })
}

const queues = new Map<string, Promise<unknown>>()

/** Changes of one file wait for each other, for each reads the state that the one before wrote. */
async function oneAtATime<Value>(key: string, task: () => Promise<Value>): Promise<Value> {
  const run = (queues.get(key) ?? Promise.resolve()).then(task, task)
  queues.set(key, run)
  try {
    return await run
  } finally {
    if (queues.get(key) === run) queues.delete(key)
  }
}

/** The path of a call, from the workspace's top, with `/`, whatever way it was written. */
function pathOf(workspace: Workspace, args: JsonObject): string {
  const asked = String(args.path)
  const located = workspace.locate(asked, "read")
  const path = posix.relative(located.root.real.replaceAll("\\", "/"), located.path.replaceAll("\\", "/"))
  if (located.root !== workspace.roots[0]) {
    throw new ToolwrightError("ACCESS_DENIED", `${asked} is not in the first root.`, {
      hint: "Use a path relative to the workspace, such as src/index.ts.",
    })
  }
  if (path === ".meta" || path.startsWith(".meta/")) {
    throw new ToolwrightError("ACCESS_DENIED", ".meta holds the state of generated files and is kept by this tool.", {
      hint: 'List it with {"action": "list"}.',
    })
  }
  return path
}

/** Some models send the artifact as a text of JSON. */
function artifactOf(value: unknown): unknown {
  if (typeof value !== "string") return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function missing(path: string): ToolwrightError {
  return new ToolwrightError("NOT_FOUND", `${path} was not made from artifacts.`, {
    hint: `Begin it: {"action": "create_file", "path": "${path}"}.`,
  })
}

function excerpt(text: string, line: number | undefined): string {
  const lines = text.split("\n").map((one, index) => `${String(index + 1).padStart(4)} | ${one}`)
  const from = line === undefined ? 0 : Math.max(0, line - 6)
  return lines.slice(from, from + 12).join("\n")
}
