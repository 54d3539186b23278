/** Suites of tasks, tried with agents and models. */
export * from "@toolwright/runtime/evals"
