import { execFileSync } from "node:child_process"
import { delimiter, dirname } from "node:path"

/** Says that it was looked for. */
const LOOKED = "PYTHON_OF_TESTS"

/**
 * Where managers of versions put scripts in place of `python3`, each start is one of several shells before it is one of
 * Python, and takes three times as long: the tests start what the script would come to.
 */
export default function plainPython(): void {
  const { env } = process
  if (env[LOOKED] !== undefined) return
  env[LOOKED] = "1"
  try {
    const args = ["-I", "-S", "-c", "import sys; print(sys.executable)"]
    const program = execFileSync("python3", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
    const path = env["PATH"] ?? ""
    if (program !== "" && !path.split(delimiter).includes(dirname(program)))
      env["PATH"] = `${dirname(program)}${delimiter}${path}`
  } catch {
    // There is none, and the tests that want one say so.
  }
}
