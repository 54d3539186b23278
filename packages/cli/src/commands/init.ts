import { basename, join, relative, resolve } from "node:path"
import { EXIT, type Command } from "../command.ts"
import { parseOptions } from "../options.ts"
import { usageText } from "../usage.ts"

export const initCommand: Command = {
  name: "init",
  summary: "Make a project with a tool of your own, its test and a configuration",
  usage: usageText({
    synopsis: ["init [folder]"],
    description:
      "Writes package.json, toolwright.yaml, tools/count-words.ts and its test; nothing that is there is " +
      "touched. The configuration is trusted, since you made it.",
    examples: [
      { line: "toolwright init my-tools", does: "Then: cd my-tools && npm install && npm test" },
      { line: "toolwright init", does: "In the current folder" },
    ],
  }),
  async run({ args, cwd, env, stdout }) {
    const [given = "."] = parseOptions(args, {}, { max: 1 }).positionals
    const folder = resolve(cwd, given)
    const [{ projectFiles }, { writeNew }, { readConfigurationFile, trustFile }] = await Promise.all([
      import("../scaffold/project.ts"),
      import("../scaffold/write.ts"),
      import("@toolwright/runtime/configuration"),
    ])
    const name =
      basename(folder)
        .toLowerCase()
        .replaceAll(/[^a-z0-9-]+/g, "-")
        .replace(/^-+|-+$/g, "") || "my-tools"
    const files = projectFiles(name, (env.TOOLWRIGHT_NODE ?? "") !== "")
    writeNew(folder, files, INSTEAD)
    trustFile(await readConfigurationFile(join(folder, "toolwright.yaml")), env)
    const go = relative(cwd, folder)
    stdout.write(
      [
        ...Object.keys(files).map((file) => `made ${join(go, file)}`),
        `Go on: ${go === "" ? "" : `cd ${go} && `}npm install && npm test`,
        'Then:  npx toolwright run "use count_words on README.md"',
        "",
      ].join("\n"),
    )
    return EXIT.success
  },
}

const INSTEAD =
  "Give another folder ('toolwright init my-tools'), or add a tool to the project that is there: 'toolwright new " +
  "tool my_tool'."
