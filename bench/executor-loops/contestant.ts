/** Imports a package from the folder of the peers. */
export type Load = <Module = Record<string, unknown>>(specifier: string) => Promise<Module>

/** What every contestant does: a model that calls one small tool again and again, then answers. */
export interface Contestant {
  /**
   * Prepares a run of `steps` tool calls. What it returns carries it out and gives back what the run amounts to, so
   * that the memory that it holds can be measured; `calls` is how many calls the tool got.
   */
  prepare(load: Load): Promise<(steps: number) => Promise<{ calls: number; held: unknown }>>
}

/** The arguments of one call; they differ, as they would in earnest. */
export const argumentsOf = (step: number) => ({ a: step, b: step + 1 })
export const PROMPT = "Add the numbers."
export const DESCRIPTION = "Adds two numbers"
