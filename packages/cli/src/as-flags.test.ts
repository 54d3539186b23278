import { expect, test } from "vitest"
import { asFlags } from "./as-flags.ts"

test.each([
  ["To permit it: `permissions.allow: [git, bash]`.", "To permit it: --allow-tool git --allow-tool bash."],
  ["`model.name: qwen2.5-coder:7b` `model.baseUrl: http://a/v1`", "--model qwen2.5-coder:7b --base-url http://a/v1"],
  ["Leave `files` out, or use `agent: file-owner`.", "Leave --file out, or use --agent file-owner."],
  ["`builtins.bash.allow` has no flag, `nothing` is none.", "`builtins.bash.allow` has no flag, `nothing` is none."],
])("a setting is its flag where people type: %s", (text, typed) => expect(asFlags(text)).toBe(typed))
