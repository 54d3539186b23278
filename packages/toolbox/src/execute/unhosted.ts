import { ToolwrightError } from "../model/errors.ts"
import type { ToolHost } from "../model/host.ts"

/** What a tool gets of the machine where nobody brings more: nothing. */
export const UNHOSTED: ToolHost = {
  files: {
    read: () => noHost("files"),
    readBytes: () => noHost("files"),
    write: () => noHost("files"),
    list: () => noHost("files"),
    remove: () => noHost("files"),
  },
  runProgram: () => noHost("programs"),
  fetch: () => noHost("network requests"),
  env: () => undefined,
  log: () => {},
}

function noHost(what: string): Promise<never> {
  return Promise.reject(
    new ToolwrightError("NO_HOST", `The tool was called where no ${what} are at hand: in a bare registry.`, {
      hint: "Call it through createToolwright, the command line or a server, which bring them.",
    }),
  )
}
