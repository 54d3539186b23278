import { defineTool } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { listed } from "./listing.ts"

test("how arguments are grounded is not told to hosts", () => {
  const property = { type: "string", grounded: { kind: "path", also: ["."] } }
  const tool = defineTool({
    name: "open",
    description: "",
    parameters: {
      type: "object",
      oneOf: [{ properties: { path: property }, required: ["path"] }, { properties: { url: { type: "string" } } }],
    },
    execute: () => "",
  })
  const text = JSON.stringify(listed(tool))
  expect(text).toContain('"path":{"type":"string"}')
  expect(text).not.toMatch(/grounded|also/)
})
