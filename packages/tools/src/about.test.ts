import { GENERAL_SET, GROUNDED, PREDEFINED_BUNDLES, roleOf, setsOf, splitActions } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createBuiltinTools } from "./builtin.ts"
import { ALL_KITS } from "./testing/all-kits.ts"

const builtin = createBuiltinTools({ roots: [{ path: import.meta.dirname, access: "read-write" }], kits: ALL_KITS })
const all = builtin.flatMap((tool) => (tool.actions === undefined ? [tool] : [tool, ...splitActions(tool)]))

/**
 * Whether the value of a path argument has to come from what was said: the annotation of the schema or of its items.
 */
function isGrounded(schema: object | undefined): boolean {
  const items = (schema as { items?: object } | undefined)?.items
  return schema !== undefined && (GROUNDED in schema || (items !== undefined && GROUNDED in items))
}

test("every built-in tool says which sets it belongs to, so that none joins an agent unasked", () => {
  expect(builtin.filter(({ sets }) => sets === undefined || sets.length === 0).map(({ name }) => name)).toEqual([])
})

test("every tool that is not always needed says when to use it and when not", () => {
  const silent = all.filter(({ optionality, usageHint = "" }) => {
    return optionality !== "required" && !/^Use when: .+ Don't use when: .+/s.test(usageHint)
  })
  expect(silent.map(({ name }) => name)).toEqual([])
})

test("every predefined bundle has tools", () => {
  for (const { name } of PREDEFINED_BUNDLES)
    expect([name, builtin.filter((tool) => setsOf(tool).includes(name)).length > 1]).toEqual([name, true])
})

test("paths that a call only reads are annotated as grounded", () => {
  const free = all
    .filter((tool) => setsOf(tool).some((set) => [GENERAL_SET, "coding", "filesystem"].includes(set)))
    .filter(({ effects, actions }) => actions === undefined && effects?.readOnly === true)
    .flatMap(({ name, effects, parameters: schema }) =>
      (effects?.reads ?? [])
        .map((selector) => selector.replace("[]", ""))
        .filter((argument) => schema.properties?.[argument] !== undefined && !isGrounded(schema.properties[argument]))
        .map((argument) => `${name}.${argument}`),
    )
  // Folders of a repository: git itself says what is there.
  expect(free).toEqual(["get_local_git_changes_info.path"])
})

test("what a call makes anew is the model's own idea, and free", () => {
  const named = (name: string) => all.find((tool) => tool.name === name)?.parameters.properties?.path
  expect([named("write_file"), named("file_write"), named("create_directory")].map(isGrounded)).toEqual([
    false,
    false,
    false,
  ])
})

test("who checks and who hands in is said by the tools, for each action in either form", () => {
  const roles = all
    .filter(({ actions }) => actions === undefined)
    .map((tool) => [tool.name, roleOf(tool, { command: "git commit -m x" })?.role] as const)
    .filter(([, role]) => role !== undefined)
  expect(Object.fromEntries(roles)).toEqual({
    bash: "commits",
    test: "validates",
    git_commit: "commits",
    git_push: "hands-in",
    validation_syntax: "validates",
    validation_tests: "validates",
    validation_file_length: "validates",
    validation_pre_commit: "validates",
    git_operations_commit: "commits",
  })
  const git = builtin.find(({ name }) => name === "git")!
  expect([roleOf(git, { action: "commit" }), roleOf(git, { action: "log" })]).toEqual([{ role: "commits" }, undefined])
})
