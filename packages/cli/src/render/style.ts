/** How text is marked; each returns the text unchanged where colour is off. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

/**
 * Colour only on a terminal, and not where `NO_COLOR` is set (to anything, https://no-color.org) or the terminal is
 * `dumb`; `FORCE_COLOR` puts it on.
 */
export function styleFor(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const off = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb"
  const forced = (env.FORCE_COLOR ?? "") !== "" && env.FORCE_COLOR !== "0"
  const colour = !off && (isTTY || forced)
  const mark = (open: number, close: number) => (text: string) =>
    colour && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    bold: mark(1, 22),
    dim: mark(2, 22),
    red: mark(31, 39),
    green: mark(32, 39),
    yellow: mark(33, 39),
    cyan: mark(36, 39),
  }
}
