/** The syntax tree of a template. `at` is the offset in the normalised source. */

export interface Arguments {
  positional: Expression[]
  named: [string, Expression][]
  /** `*list` and `**dict`. */
  spread?: Expression
  spreadNamed?: Expression
}

export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**"
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in"

export type Expression = { at: number } & (
  | { type: "constant"; value: null | boolean | number | string }
  | { type: "float"; value: number }
  | { type: "name"; name: string }
  | { type: "list"; items: Expression[] }
  | { type: "tuple"; items: Expression[] }
  | { type: "dict"; entries: [Expression, Expression][] }
  | { type: "unary"; operator: "-" | "+" | "not"; operand: Expression }
  | { type: "binary"; operator: BinaryOperator; left: Expression; right: Expression }
  | { type: "logic"; operator: "and" | "or"; left: Expression; right: Expression }
  | { type: "concat"; parts: Expression[] }
  | { type: "compare"; first: Expression; rest: { operator: CompareOperator; operand: Expression }[] }
  | { type: "conditional"; test: Expression; value: Expression; otherwise: Expression | undefined }
  | { type: "attribute"; target: Expression; name: string }
  | { type: "item"; target: Expression; key: Expression }
  | {
      type: "slice"
      target: Expression
      bounds: [Expression | undefined, Expression | undefined, Expression | undefined]
    }
  | { type: "call"; target: Expression; args: Arguments }
  | { type: "filter"; target: Expression; name: string; args: Arguments }
  | { type: "test"; target: Expression; name: string; args: Arguments }
)

/** What may stand left of `=`, and after `for`. */
export type Target = { at: number } & (
  | { type: "name"; name: string }
  | { type: "member"; object: string; name: string }
  | { type: "tuple"; items: Target[] }
)

export interface Macro {
  at: number
  name: string
  parameters: { name: string; fallback: Expression | undefined }[]
  body: Statement[]
}

export interface FilterStep {
  at: number
  name: string
  args: Arguments
}

export type Statement = { at: number } & (
  | { type: "text"; text: string }
  | { type: "output"; value: Expression }
  | { type: "if"; branches: { test: Expression; body: Statement[] }[]; otherwise: Statement[] }
  | {
      type: "for"
      target: Target
      over: Expression
      test: Expression | undefined
      recursive: boolean
      body: Statement[]
      otherwise: Statement[]
    }
  | { type: "set"; target: Target; value: Expression }
  | { type: "set-block"; target: Target; filters: FilterStep[]; body: Statement[] }
  | { type: "macro"; macro: Macro }
  | { type: "call-block"; caller: Macro; call: Expression }
  | { type: "filter-block"; filters: FilterStep[]; body: Statement[] }
  | { type: "scope"; bindings: { target: Target; value: Expression }[]; body: Statement[] }
  | { type: "break" | "continue" }
)

export interface TemplateTree {
  source: string
  body: Statement[]
}
