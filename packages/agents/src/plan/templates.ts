import type { Plan } from "./plan.ts"

/** Plans to begin with: each is started as it is, or written to a file and changed. */
export const PLAN_TEMPLATES: readonly Plan[] = [
  {
    name: "fix",
    description: "Find out where a problem lies, mend it, and review what was changed",
    inputs: { problem: { description: "what goes wrong, as it was reported" } },
    tasks: {
      triage: { agent: "triager", task: "Find out where this problem lies and how urgent it is: {problem}" },
      mend: {
        agent: "debugger",
        task: "Reproduce this problem, mend it and run the tests: {problem}",
        after: ["triage"],
      },
      review: {
        agent: "reviewer",
        task: "Review what was changed last to mend this problem: {problem}",
        after: ["mend"],
      },
    },
  },
  {
    name: "feature",
    description: "Build something, then have it reviewed and the findings put right",
    inputs: { wish: { description: "what is to be built" } },
    tasks: {
      build: { agent: "builder", task: "{wish}" },
      review: { agent: "reviewer", task: "Review what was built last. It was to be: {wish}", after: ["build"] },
      improve: {
        agent: "builder",
        task: "Put right what a review of this found, where it is right: {wish}",
        after: ["review"],
      },
    },
  },
  {
    name: "module",
    description: "One agent writes a file, a second one its tests; each owns its own",
    inputs: {
      name: { description: "a word for it, such as Area" },
      file: { description: "the file, such as src/area.py" },
      tests: { description: "the file of its tests, such as tests/test_area.py" },
      purpose: { description: "what the file is for" },
    },
    agents: {
      "{name}Author": { files: ["{file}"] },
      "{name}Tester": { files: ["{tests}"] },
    },
    tasks: {
      write: { agent: "{name}Author", task: "Write {file}: {purpose}" },
      test: { agent: "{name}Tester", task: "Write tests in {tests} for {file}: {purpose}", after: ["write"] },
    },
  },
]
