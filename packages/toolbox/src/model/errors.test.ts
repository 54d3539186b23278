import { expect, test } from "vitest"
import { ToolwrightError } from "./errors.ts"

test("an error written as a text has its code, and says what to do", () => {
  const away = new ToolwrightError("SOURCE_UNAVAILABLE", "The service does not answer.", { hint: "Start it." })
  expect(`${away}`).toBe("ToolwrightError [SOURCE_UNAVAILABLE]: The service does not answer.\nStart it.")
  expect(String(new ToolwrightError("TIMEOUT", "It took too long."))).toBe(
    "ToolwrightError [TIMEOUT]: It took too long.",
  )
})
