import { defineTool } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { openApiDocument } from "./document.ts"

test("how arguments are grounded is nobody's business outside", () => {
  const tool = defineTool({
    name: "open",
    description: "",
    parameters: { type: "object", properties: { path: { type: "string", grounded: "path" } }, required: ["path"] },
    execute: () => "",
  })
  const text = JSON.stringify(openApiDocument([tool], { url: "http://localhost", secured: false }))
  expect(text).toContain('"path":{"type":"string"}')
  expect(text).not.toContain("grounded")
})
