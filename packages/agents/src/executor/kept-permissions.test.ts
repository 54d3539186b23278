import fc from "fast-check"
import { defineTool, rulingFor, type Permission, type PermissionPolicy, type PermissionRule } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { policyMark } from "../record/approval.ts"
import { heldTo, permissionsToKeep } from "./kept-permissions.ts"
import type { ExecutorOptions } from "./options.ts"

const tools = ["git", "bash", "write_file", "read_file"].map((name) =>
  defineTool({ name, description: "Does it", parameters: { type: "object", properties: {} }, execute: () => "done" }),
)
const STRICT: Readonly<Record<Permission, number>> = { allow: 0, ask: 1, deny: 2 }

const rule = fc.record({
  tool: fc.constantFrom("git", "bash", "write_file", "read_file", "*_file", "*"),
  permission: fc.constantFrom<Permission>("allow", "ask", "deny"),
})
const policy = fc.record({
  rules: fc.array<PermissionRule>(rule as fc.Arbitrary<PermissionRule>, { maxLength: 4 }),
  careful: fc.boolean(),
})

const held = (begun: PermissionPolicy, now: PermissionPolicy): PermissionPolicy => {
  const kept = permissionsToKeep({ permissions: begun })
  // As it comes back from the log.
  return heldTo({ permissions: now } as ExecutorOptions, JSON.parse(JSON.stringify(kept)) as typeof kept).permissions!
}

const strictness = (by: PermissionPolicy, at: number): number => STRICT[rulingFor(by, tools[at]!, {}).permission]

test("whoever goes on with a run has its permissions where nothing new is said, and no looser ones whatever is", () => {
  fc.assert(
    fc.property(policy, policy, fc.nat(tools.length - 1), (begun, now, at) => {
      const tool = tools[at]!
      expect(strictness(held(begun, begun), at)).toBe(strictness(begun, at))
      expect(strictness(held(begun, {}), at), "with every flag left out").toBe(strictness(begun, at))
      expect(strictness(held(begun, now), at)).toBeGreaterThanOrEqual(strictness(begun, at))
      // An answer counts for the rules that it was given under.
      const same = { ...begun, careful: false }
      expect(policyMark(held(same, {}), tool)).toBe(policyMark(same, tool))
    }),
    { numRuns: 2_000 },
  )
})

test("what is new and stricter holds beside what was said before", () => {
  const begun: PermissionPolicy = { rules: [{ tool: "*_file", permission: "allow" }] }
  const now: PermissionPolicy = { rules: [{ tool: "write_file", permission: "ask" }], denyPaths: [".env"] }
  const both = held(begun, now)
  expect(rulingFor(both, tools[2]!, {})).toMatchObject({ permission: "ask" })
  expect(rulingFor(both, tools[3]!, {})).toMatchObject({ permission: "allow" })
  expect(both.denyPaths).toEqual([".env"])
  expect(policyMark(both, tools[2]!)).not.toBe(policyMark(begun, tools[2]!))
})

test("a log of before, which names only what was denied, is held to that", () => {
  const options = { permissions: { rules: [{ tool: "bash", permission: "allow" }] } } as unknown as ExecutorOptions
  const { permissions } = heldTo(options, { deny: ["bash"] })
  expect(rulingFor(permissions, tools[1]!, {}).permission).toBe("deny")
})
