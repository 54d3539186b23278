import { afterAll, afterEach, beforeAll, describe } from "vitest"
import { CHROMIUM, closePages, launch, NO_CHROMIUM, openPage as openPageOf, type Browser } from "./browser.ts"

let browser: Browser | undefined

/**
 * Tests that share a browser, which is closed after them; what a test opened is closed after each. Where there is no
 * browser they are skipped, and say so.
 */
export function describeInBrowser(what: string, tests: () => void): void {
  describe.skipIf(CHROMIUM === undefined)(`${what}${CHROMIUM === undefined ? ` (${NO_CHROMIUM})` : ""}`, () => {
    beforeAll(async () => {
      browser = await launch()
    })
    afterEach(() => closePages(browser))
    afterAll(async () => {
      await browser?.close()
      browser = undefined
    })
    tests()
  })
}

/** A page in that browser, see `openPage` of the browser. */
export const openPage = (size?: { width: number; height: number }): ReturnType<typeof openPageOf> =>
  openPageOf(browser!, size)
