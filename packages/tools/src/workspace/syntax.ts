import { extname } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { childEnvironment } from "@toolwright/host/process"
import { findProgram, runSandboxed, trustedPath, type SandboxPolicy } from "@toolwright/host/sandbox"

/** Whether a source can be parsed; `skipped` when nothing here can tell. */
export type SyntaxVerdict =
  | { status: "passed" }
  | { status: "failed"; message: string; line?: number; column?: number }
  | { status: "skipped"; reason: string }

export interface SyntaxOptions {
  readonly signal?: AbortSignal
  /** Whether Python may run without a sandbox; `auto` unless given. */
  readonly policy?: SandboxPolicy
}

/**
 * Checks the syntax of a source file by the end of its name: Python by `python3`, TypeScript and JavaScript by Node,
 * JSON. Runs none of it.
 */
export async function checkSyntax(path: string, source: string, options: SyntaxOptions = {}): Promise<SyntaxVerdict> {
  switch (extname(path).toLowerCase()) {
    case ".py":
    case ".pyi":
      return await python(source, options)
    case ".ts":
    case ".mts":
    case ".cts":
      return await typescript(source, false)
    case ".js":
    case ".mjs":
    case ".cjs":
      return await typescript(source, true)
    case ".json":
      return json(source)
    default:
      return { status: "skipped", reason: `no syntax check for ${extname(path) || "files without an extension"}` }
  }
}

// Isolated mode: nothing of the working directory is imported.
const PYTHON = `
import ast, json, sys
source = sys.stdin.buffer.read().decode("utf-8")
try:
    compile(source, "file", "exec", ast.PyCF_ONLY_AST)
    compile(source, "file", "exec", dont_inherit=True)
    print("{}")
except (SyntaxError, ValueError) as error:
    line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
    print(json.dumps({"message": getattr(error, "msg", None) or str(error), "line": line, "column": column}))
`

async function python(source: string, { signal, policy = "auto" }: SyntaxOptions): Promise<SyntaxVerdict> {
  const path = trustedPath([process.cwd()])
  const program = findProgram("python3", path)
  if (program === undefined) return { status: "skipped", reason: "python3 is not installed" }
  try {
    const { outcome } = await runSandboxed({
      argv: [program, "-I", "-S", "-W", "ignore", "-c", PYTHON],
      cwd: "/usr",
      env: childEnvironment({ PATH: path }),
      input: source,
      timeoutMs: 20_000,
      policy,
      // It reads what it is told and nothing else, so that it is shown nothing else.
      plan: { root: "/usr", writable: false, limits: { processes: null } },
      ...(signal === undefined ? {} : { signal }),
    })
    const said = JSON.parse(outcome.stdout.text || "null") as {
      message?: string
      line?: number
      column?: number
    } | null
    if (said === null)
      return { status: "skipped", reason: `python3 broke off: ${outcome.stderr.text.trim().slice(-300)}` }
    if (said.message === undefined) return { status: "passed" }
    return failed(said.message, said.line ?? undefined, said.column ?? undefined)
  } catch (thrown) {
    if (ToolwrightError.isInstance(thrown)) return { status: "skipped", reason: thrown.message }
    throw thrown
  }
}

async function typescript(source: string, plain: boolean): Promise<SyntaxVerdict> {
  const { stripTypeScriptTypes } = await import("node:module")
  try {
    const stripped = quietly(() => stripTypeScriptTypes(source, { mode: plain ? "strip" : "transform" }))
    if (!plain || stripped === source) return { status: "passed" }
    const line = source.split("\n").findIndex((text, index) => text !== stripped.split("\n")[index]) + 1
    return failed("this is TypeScript syntax, in a JavaScript file", line)
  } catch (thrown) {
    const { message, stack } = thrown as Error
    const line = /^:(\d+)$/mu.exec(stack ?? "")?.[1]
    return failed(message, line === undefined ? undefined : Number(line))
  }
}

/** Node warns that its type stripper is experimental; what it prints would end up among a tool's output. */
function quietly<Value>(task: () => Value): Value {
  const emit = process.emitWarning
  process.emitWarning = (() => {}) as typeof process.emitWarning
  try {
    return task()
  } finally {
    process.emitWarning = emit
  }
}

function json(source: string): SyntaxVerdict {
  try {
    JSON.parse(source)
    return { status: "passed" }
  } catch (thrown) {
    const at = /position (\d+)/u.exec((thrown as Error).message)?.[1]
    return failed(
      (thrown as Error).message,
      at === undefined ? undefined : source.slice(0, Number(at)).split("\n").length,
    )
  }
}

function failed(message: string, line?: number, column?: number): SyntaxVerdict {
  return {
    status: "failed",
    message,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  }
}
