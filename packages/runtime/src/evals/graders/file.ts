import { ToolwrightError } from "@toolwright/toolbox"
import { text } from "../schema-parts.ts"
import { failed, passed, type GraderKind } from "./kind.ts"
import { checkText, LOOKS, TEXT_PROPERTIES, textMistakes, type TextCheck } from "./text.ts"

/** What a file in the folder of a trial has to be, once its run has ended. */
export interface FileCheck extends TextCheck {
  path: string
  /** Whether it has to be there; it has to unless this is false. */
  exists?: boolean
}

/** The second where a part of the path is a file. */
const NOT_THERE = new Set(["NOT_FOUND", "NOT_A_DIRECTORY"])

export const fileKind: GraderKind<FileCheck> = {
  schema: {
    type: "object",
    properties: { path: text(1_000), exists: { type: "boolean" }, ...TEXT_PROPERTIES },
    required: ["path"],
    additionalProperties: false,
  },
  title: ({ path, exists }) => (exists === false ? `no file ${path}` : `file ${path}`),
  mistakes({ path: _path, exists = true, ...check }) {
    const looks = LOOKS.some((look) => check[look] !== undefined)
    if (!exists) return looks ? ["a file that may not be there has no content to look at"] : []
    return looks ? textMistakes(check) : []
  },
  async grade({ path, exists = true, ...check }, { host }) {
    let content: string | undefined
    try {
      content = await host.files.read(path)
    } catch (thrown) {
      if (!ToolwrightError.isInstance(thrown)) throw thrown
      // Else something is there that is no text, such as a folder or a link to elsewhere: the agent's doing as well.
      if (!NOT_THERE.has(thrown.code)) return failed(`${path} cannot be read: ${thrown.message}`)
    }
    if (content === undefined) return exists ? failed(`there is no file ${path}`) : passed(`there is no file ${path}`)
    if (!exists) return failed(`the file ${path} is there`)
    return LOOKS.some((look) => check[look] !== undefined)
      ? checkText(content, check, path)
      : passed(`the file ${path} is there`)
  },
}
