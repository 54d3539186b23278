import type { PermissionPolicy } from "@toolwright/toolbox"
import type { Invocation } from "./command.ts"
import { neutralise } from "./render/neutralise.ts"
import type { Renderer } from "./render/renderer.ts"
import { shortArguments } from "./render/short.ts"

/**
 * Asks the person at the terminal whether a call may run; anything but yes means no.
 *
 * @param shown what draws on the terminal at that time, and must not draw over the question
 */
export function approveOnTerminal({ stderr }: Invocation, shown: () => Renderer | undefined): NonNullable<PermissionPolicy["approve"]> {
  return async ({ tool, args }, signal) => {
    shown()?.hold?.()
    const { createInterface } = await import("node:readline/promises")
    const terminal = createInterface({ input: process.stdin })
    stderr.write(`\r\u001b[2KAllow ${neutralise(tool.name)} ${shortArguments(args, 200)}? [y/N] `)
    try {
      return /^y(es)?$/i.test((await terminal.question("", { signal })).trim())
    } catch {
      return false
    } finally {
      terminal.close()
      shown()?.release?.()
    }
  }
}
