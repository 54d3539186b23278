import type { RunLog } from "@toolwright/store"

/** The files of a page, by their path below `/`. */
export interface PageSource {
  file(path: string): Promise<
    | {
        bytes: Uint8Array<ArrayBuffer>
        gzip: Uint8Array<ArrayBuffer>
        type: string
        /** Its name changes with its content. */
        lasting: boolean
      }
    | undefined
  >
}

/** Where runs are read. */
export interface RunSource {
  /** Undefined while nothing was recorded: nothing is made by looking. */
  look(): Promise<RunLog | undefined>
}

/** A code that can be changed for a token, once: it may stand in an address, since it is good for nothing afterwards. */
export interface OneTimeCode {
  code: string
  token: string
}
