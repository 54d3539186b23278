/** What Ajv needs of a regular expression. */
export interface PatternTest {
  test(text: string): boolean
}

/** Makes the test of a pattern; `toString` of what it makes names the pattern. */
export interface PatternEngine {
  (pattern: string, flags: string): PatternTest
  code: string
}

/**
 * The engine for patterns in schemas: RE2, which takes time linear in the text, whatever the pattern. What it cannot
 * read (a look-ahead, a reference back) is left to the language's own engine where the schema is this program's own;
 * in a schema that came from elsewhere it is not checked here: whoever sent it checks it anyway.
 *
 * @param own whether the schemas are part of this program
 */
export async function patternEngine(own: boolean): Promise<PatternEngine> {
  const { RE2JS } = await import("re2js")
  const compile = (pattern: string, flags: string): PatternTest => {
    if (pattern.length > LONGEST) return { test: () => true }
    try {
      const linear = RE2JS.compile(RE2JS.translateRegExp(pattern))
      return { test: (text) => linear.test(text) }
    } catch {
      return own ? new RegExp(pattern, flags) : { test: () => true }
    }
  }
  const engine = (pattern: string, flags: string): PatternTest =>
    Object.assign(compile(pattern, flags), { toString: () => `/${pattern}/` })
  return Object.assign(engine, { code: "pattern" })
}

/** A longer pattern is no rule that a call could be expected to know, and takes long to make a machine of. */
const LONGEST = 10_000
