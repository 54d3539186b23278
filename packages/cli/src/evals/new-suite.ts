/** A suite to begin with: it passes with the built-in model, and shows what else can be said. */
export const NEW_SUITE = `# docs/evaluations.md tells what else can be said.
name: first
agent: assistant
trials: 2
threshold: 1 # the share of trials that must pass
# models: [qwen2.5-coder:7b, { name: other, baseUrl: http://localhost:8080/v1 }]
tasks:
  find-file:
    task: list the files in src
    files:
      src/add.js: |
        export const add = (a, b) => a + b
    graders:
      - called: { tool: "*", succeeded: true }
      - file: { path: src/add.js, contains: export const add }
  show-lines:
    task: show me the first 2 lines of notes.txt
    files:
      notes.txt: |
        one
        two
        three
    graders:
      - called: { tool: "*", with: { path: notes.txt } }
      - name: nothing was changed
        command: { run: [wc, -l, notes.txt], prints: { contains: "3" } }
`
