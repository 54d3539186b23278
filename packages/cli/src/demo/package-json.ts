/** The `package.json` of a small project of the demonstration, whose tests Node runs by itself. */
export function packageJson(name: string): string {
  const project = { name, private: true, type: "module", scripts: { test: "node --test" } }
  return `${JSON.stringify(project, null, 2)}\n`
}
