import { getAttribute, getItem, slice } from "./attributes.ts"
import { Failure } from "./errors.ts"
import type { Filter, FilterHost } from "./filter-arguments.ts"
import type { Arguments, Expression, FilterStep } from "./nodes.ts"
import { binary, compare, sign } from "./operators.ts"
import type { Rendering } from "./rendering.ts"
import type { Scope } from "./scope.ts"
import { TESTS } from "./tests.ts"
import { TEXT_FILTERS } from "./text-filters.ts"
import { str } from "./text.ts"
import { VALUE_FILTERS } from "./value-filters.ts"
import {
  Callable,
  Dict,
  floatOf,
  iterate,
  lengthOf,
  Loop,
  textIn,
  truthy,
  Tuple,
  typeName,
  Undefined,
  valueOr,
  type CallArguments,
  type Value,
} from "./values.ts"

const FILTERS: Record<string, Filter> = { ...TEXT_FILTERS, ...VALUE_FILTERS }

type Kind = Expression["type"]
type Node<Type extends Kind> = Extract<Expression, { type: Type }>
type Evaluate<Type extends Kind> = (node: Node<Type>, scope: Scope, evaluator: Evaluator) => Value

/** What each kind of expression comes to. */
const EXPRESSIONS: { readonly [Type in Kind]: Evaluate<Type> } = {
  constant: (node) => node.value,
  float: (node) => floatOf(node.value),
  name: (node, scope) => valueOr(scope.get(node.name), () => new Undefined(`'${node.name}' is undefined`)),
  list: (node, scope, evaluator) => evaluator.all(node.items, scope),
  tuple: (node, scope, evaluator) => Tuple.holding(evaluator.all(node.items, scope)),
  dict: ({ entries }, scope, evaluator) => Dict.from(entries.map((entry) => evaluator.pair(entry, scope))),
  unary: ({ operator, operand }, scope, evaluator) => {
    const value = evaluator.evaluate(operand, scope)
    return operator === "not" ? !truthy(value) : sign(operator, value)
  },
  binary: (node, scope, evaluator) => {
    const left = evaluator.evaluate(node.left, scope)
    const right = evaluator.evaluate(node.right, scope)
    const { rendering, maxSize } = evaluator
    rendering.at = node.at
    return evaluator.counted(binary(node.operator, left, right, maxSize))
  },
  logic: ({ operator, left, right }, scope, evaluator) => {
    const first = evaluator.evaluate(left, scope)
    return truthy(first) === (operator === "and") ? evaluator.evaluate(right, scope) : first
  },
  concat: ({ parts }, scope, evaluator) =>
    evaluator.rendering.checked(parts.map((part) => str(evaluator.evaluate(part, scope))).join("")),
  compare: (node, scope, evaluator) => {
    let left = evaluator.evaluate(node.first, scope)
    for (const { operator, operand } of node.rest) {
      const right = evaluator.evaluate(operand, scope)
      evaluator.rendering.at = node.at
      for (const side of [left, right]) if (side instanceof Undefined) side.allowNothing()
      if (!compare(operator, left, right)) return false
      left = right
    }
    return true
  },
  conditional: ({ test, value, otherwise }, scope, evaluator) => {
    if (truthy(evaluator.evaluate(test, scope))) return evaluator.evaluate(value, scope)
    return otherwise === undefined
      ? new Undefined("the inline if-expression evaluated to false and no else section was defined.")
      : evaluator.evaluate(otherwise, scope)
  },
  attribute: (node, scope, evaluator) => {
    const target = evaluator.evaluate(node.target, scope)
    evaluator.rendering.at = node.at
    return getAttribute(target, node.name)
  },
  item: (node, scope, evaluator) => {
    const target = evaluator.evaluate(node.target, scope)
    const key = evaluator.evaluate(node.key, scope)
    evaluator.rendering.at = node.at
    return getItem(target, key)
  },
  slice: (node, scope, evaluator) => {
    const target = evaluator.evaluate(node.target, scope)
    const bounds = node.bounds.map((bound) => (bound === undefined ? null : evaluator.evaluate(bound, scope)))
    evaluator.rendering.at = node.at
    return slice(target, bounds[0]!, bounds[1]!, bounds[2]!)
  },
  call: (node, scope, evaluator) => {
    const target = evaluator.evaluate(node.target, scope)
    return evaluator.call(target, evaluator.arguments(node.args, scope), node.at)
  },
  filter: (node, scope, evaluator) => {
    const value = evaluator.evaluate(node.target, scope)
    const args = evaluator.arguments(node.args, scope)
    evaluator.rendering.at = node.at
    return evaluator.filter(node.name, value, args)
  },
  test: (node, scope, evaluator) => {
    const value = evaluator.evaluate(node.target, scope)
    const args = evaluator.arguments(node.args, scope)
    evaluator.rendering.at = node.at
    return evaluator.test(node.name, value, args.positional)
  },
}

/** Evaluates expressions within one rendering, and is what filters may use of it. */
export class Evaluator implements FilterHost {
  readonly rendering: Rendering
  readonly maxSize: number

  constructor(rendering: Rendering) {
    this.rendering = rendering
    this.maxSize = rendering.limits.maxOutput
  }

  evaluate(node: Expression, scope: Scope): Value {
    this.rendering.step(node.at)
    const value = (EXPRESSIONS[node.type] as Evaluate<Kind>)(node, scope, this)
    if (!(value instanceof Undefined) || !this.rendering.limits.strict) return value
    this.rendering.at = node.at
    return new Undefined(value.reason, true)
  }

  all(nodes: readonly Expression[], scope: Scope): Value[] {
    return nodes.map((node) => this.evaluate(node, scope))
  }

  pair([key, value]: readonly [Expression, Expression], scope: Scope): readonly [Value, Value] {
    return [this.evaluate(key, scope), this.evaluate(value, scope)]
  }

  arguments(args: Arguments, scope: Scope): CallArguments {
    const positional = this.all(args.positional, scope)
    const named = new Map(args.named.map(([name, value]) => [name, this.evaluate(value, scope)]))
    if (args.spread !== undefined) positional.push(...iterate(this.evaluate(args.spread, scope)))
    if (args.spreadNamed !== undefined) {
      const extra = this.evaluate(args.spreadNamed, scope)
      if (!(extra instanceof Dict)) throw new Failure(`argument after ** must be a mapping, not ${typeName(extra)}`)
      for (const [key, value] of extra.entries()) named.set(str(key), value)
    }
    return { positional, named }
  }

  call(target: Value, args: CallArguments, place: number): Value {
    this.rendering.at = place
    const callable = target instanceof Loop ? target.recurse : target
    if (target instanceof Undefined) throw new Failure(target.reason)
    if (!(callable instanceof Callable)) throw new Failure(`'${typeName(target)}' object is not callable`)
    return this.counted(callable.call(args))
  }

  /** A value that was made in one go, counted as the work that it was. */
  counted(value: Value): Value {
    if (typeof value === "string") this.rendering.checked(value)
    else if (Array.isArray(value)) this.rendering.spend(value.length)
    return value
  }

  filter(name: string, value: Value, args: CallArguments): Value {
    const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined
    if (filter === undefined) throw new Failure(`No filter named '${name}'.`)
    if (value instanceof Undefined && filter !== FILTERS["default"]) value.allowNothing()
    // A filter may run through the whole value.
    this.rendering.spend(lengthOf(value) ?? 1)
    const result = filter(value, args, this)
    if (typeof result === "string") this.rendering.checked(result)
    return result
  }

  filterAll(filters: readonly FilterStep[], text: string, scope: Scope): Value {
    return filters.reduce<Value>((value, { at, name, args }) => {
      this.rendering.at = at
      return this.filter(name, value, this.arguments(args, scope))
    }, text)
  }

  test(name: string, value: Value, args: Value[]): boolean {
    const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined
    if (test !== undefined) return test(value, args)
    if (name === "filter" || name === "test")
      return Object.hasOwn(name === "filter" ? FILTERS : TESTS, textIn(value) ?? "")
    throw new Failure(`No test named '${name}'.`)
  }

  /** What `attribute=` arguments reach: a dotted path, numbers being indexes. */
  pick(value: Value, path: Value): Value {
    const text = textIn(path)
    if (text === undefined) return getItem(value, path)
    return text
      .split(".")
      .reduce<Value>((found, part) => getItem(found, /^\d+$/.test(part) ? Number(part) : part), value)
  }
}
