import { Failure } from "./errors.ts"

/** Bounds of one rendering. */
export interface RenderLimits {
  /** Whether a name that nothing is known of is refused where it is used; it is taken for nothing unless given. */
  strict?: boolean
  /** Nodes of the syntax tree that may be evaluated. */
  maxSteps: number
  /** Characters of the output, and of any text made on the way. */
  maxOutput: number
  /** Macros that may be running inside one another. */
  maxDepth: number
}

/** One rendering as it goes on: what is printed, the place in the template, and what has been used of the limits. */
export class Rendering {
  readonly limits: RenderLimits
  /** Offset of the node at work, for errors. */
  at = 0
  #steps = 0
  #depth = 0
  #size = 0
  #output: string[] = []

  constructor(limits: RenderLimits) {
    this.limits = limits
  }

  get text(): string {
    return this.#output.join("")
  }

  /** Begins the work on a node. */
  step(place: number): void {
    this.at = place
    this.#steps += 1
    if (this.#steps > this.limits.maxSteps)
      throw new Failure(`The template took more than ${this.limits.maxSteps} steps`, "TEMPLATE_LIMIT")
  }

  /** Counts work that is more than one step; the next step refuses it where it was too much. */
  spend(steps: number): void {
    this.#steps += steps
  }

  write(text: string): void {
    this.#size += text.length
    if (this.#size > this.limits.maxOutput)
      throw new Failure(`The output is longer than ${this.limits.maxOutput} characters`, "TEMPLATE_LIMIT")
    this.#output.push(text)
  }

  /** A text made on the way, if it is not too long. */
  checked(text: string): string {
    this.spend(text.length >> 8)
    if (text.length > this.limits.maxOutput)
      throw new Failure(`A text is longer than ${this.limits.maxOutput} characters`, "TEMPLATE_LIMIT")
    return text
  }

  /** What is printed meanwhile, kept apart from the output. */
  capture(print: () => void): string {
    const outer = this.#output
    this.#output = []
    try {
      print()
      return this.text
    } finally {
      this.#output = outer
    }
  }

  /** {@link capture} of a macro or a loop that calls itself, which may not go too deep. */
  captureDeeper(print: () => void): string {
    this.#depth += 1
    if (this.#depth > this.limits.maxDepth)
      throw new Failure(`Macros are nested more than ${this.limits.maxDepth} deep`, "TEMPLATE_LIMIT")
    try {
      return this.capture(print)
    } finally {
      this.#depth -= 1
    }
  }
}
