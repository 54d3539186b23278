import { failure, ToolwrightError, type ToolResult } from "@toolwright/toolbox"

/** Whether a hash is the expected one; either may be the longer spelling of the same. */
export function matchesHash(hash: string, expected: string): boolean {
  return expected.length >= hash.length ? expected.startsWith(hash) : hash.startsWith(expected)
}

/** The answer to a change of a file that is no longer the one that was read. */
export function staleResult(path: string, expected: string, now: string): ToolResult {
  return failure({
    code: "STALE",
    message: `Nothing was changed: ${path} is no longer what was read (expected hash ${expected}, now ${now})`,
    hint: "Read the file again and repeat the change on what it holds now.",
    details: { expected_hash: expected, hash: now },
  })
}

/** The answer to a binary file where a text is needed. */
export function binaryFile(path: string): ToolwrightError {
  return new ToolwrightError("BINARY_FILE", `Not a text file: ${path} is binary`, {
    hint: "Its bytes can be read in base64.",
    next: { does: "read a file's bytes", arguments: { path } },
  })
}
