type Body = () => void | Promise<void>

interface Test {
  (name: string, body: Body): unknown
  /** With a reason why it is skipped, or `false`. */
  (name: string, options: { skip: string | false }, body: Body): unknown
}

const { test: own } = process.env.VITEST === undefined ? await import("node:test") : await import("vitest")

/** `test` of whichever runner runs this file. Your project has one of them and imports it. */
export const test = own as Test
