import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { stateTextOf } from "@toolwright/host/state-files"

export const FRAMEWORKS = ["node", "vitest", "jest", "pytest", "unittest", "go", "cargo", "npm"] as const

/** A way to run tests. */
export type Framework = (typeof FRAMEWORKS)[number]

const JS_TEST = /\.(?:test|spec)\.[cm]?[jt]sx?$|^test\.[cm]?[jt]s$/u
const PY_TEST = /^test_.*\.py$|_test\.py$/u
const SKIPPED = new Set(["node_modules", ".git", ".venv", "venv", "dist", "build", "target", ".meta", "__pycache__"])

/**
 * Finds out how a project is tested: by its manifests first, then by the names of its test files.
 * @returns every framework that applies, the surest first; empty when there are no tests
 */
export async function detectFrameworks(root: string): Promise<Framework[]> {
  const names = new Set(await readdir(root).catch(() => []))
  const found: Framework[] = []
  const add = (framework: Framework) => {
    if (!found.includes(framework)) found.push(framework)
  }
  if (names.has("package.json")) {
    const framework = fromPackage(root)
    if (framework !== undefined) add(framework)
  }
  if (names.has("Cargo.toml")) add("cargo")
  if (names.has("go.mod")) add("go")
  const files = await testFiles(root)
  if (
    files.some((file) => JS_TEST.test(file.name)) &&
    !found.some((one) => ["node", "vitest", "jest", "npm"].includes(one))
  )
    add("node")
  const python = files.filter((file) => PY_TEST.test(file.name))
  if (python.length > 0) add(pythonFramework(root, names, python))
  return found
}

function fromPackage(root: string): Framework | undefined {
  const text = stateTextOf(join(root, "package.json")) ?? "{}"
  let script: string | undefined
  try {
    script = (JSON.parse(text) as { scripts?: { test?: string } }).scripts?.test
  } catch {
    return undefined
  }
  if (script === undefined || script.includes("no test specified")) return undefined
  // Only a plain call of a runner is replaced by our own; whatever does more is left to npm.
  if (/^node (?:--[\w-]+(?:=\S+)? )*--test\s*$/u.test(script)) return "node"
  if (/^(?:npx )?vitest(?: run)?\s*$/u.test(script)) return "vitest"
  if (/^(?:npx )?jest\s*$/u.test(script)) return "jest"
  return "npm"
}

function pythonFramework(root: string, names: ReadonlySet<string>, files: readonly { path: string }[]): Framework {
  if (names.has("pytest.ini") || names.has("conftest.py") || names.has("tox.ini")) return "pytest"
  const project = names.has("pyproject.toml") ? (stateTextOf(join(root, "pyproject.toml")) ?? "") : ""
  if (project.includes("[tool.pytest")) return "pytest"
  const texts = files.slice(0, 50).map((file) => stateTextOf(join(root, file.path)) ?? "")
  return texts.every(
    (text) => /^\s*(?:import unittest|from unittest\b)/mu.test(text) && !/^\s*import pytest/mu.test(text),
  )
    ? "unittest"
    : "pytest"
}

/** Whether a file's name is one of a test. */
export function isTestFile(name: string): boolean {
  return JS_TEST.test(name) || PY_TEST.test(name)
}

async function testFiles(root: string): Promise<{ path: string; name: string }[]> {
  const found: { path: string; name: string }[] = []
  let folders = [""]
  for (let depth = 0, seen = 0; depth < 6 && folders.length > 0 && seen < 5000; depth++) {
    const next: string[] = []
    for (const folder of folders) {
      for (const entry of await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])) {
        seen++
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(path)
        else if (entry.isFile() && isTestFile(entry.name)) found.push({ path, name: entry.name })
      }
    }
    folders = next
  }
  return found
}
