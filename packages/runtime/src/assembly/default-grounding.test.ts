import { DEFAULT_GROUNDING } from "@toolwright/agents"
import { splitActions } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import { expect, test } from "vitest"

test("the default rules speak of tools and arguments that there are", () => {
  const builtin = createBuiltinTools({ roots: [{ path: import.meta.dirname, access: "read-write" }] })
  const known = new Map(
    [...builtin, ...builtin.flatMap(splitActions)].map(({ name, schema }) => [
      name,
      Object.keys(schema.properties ?? {}),
    ]),
  )
  for (const [name, rules] of Object.entries(DEFAULT_GROUNDING))
    expect([name, known.get(name)]).toEqual([name, expect.arrayContaining(Object.keys(rules))])
})
