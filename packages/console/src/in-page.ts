/** Where the run stands in the file. */
export const OPEN = '<script id="run" type="application/json">'
export const CLOSE = "</script>"

/** The run that lies in a file that is a page, as it was put there; undefined where there is none. */
export function runInPage(text: string): unknown {
  const from = text.indexOf(OPEN)
  const to = text.indexOf(CLOSE, from)
  if (from < 0 || to < 0) return undefined
  try {
    return JSON.parse(text.slice(from + OPEN.length, to)) as unknown
  } catch {
    return undefined
  }
}
