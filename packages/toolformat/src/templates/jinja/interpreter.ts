import { getAttribute, getItem, slice } from "./attributes.ts"
import { Failure, placeOf, TemplateError } from "./errors.ts"
import type { Filter, FilterHost } from "./filter-arguments.ts"
import type { Arguments, Expression, FilterStep, Macro, Statement, Target, TemplateTree } from "./nodes.ts"
import { binary, compare, sign } from "./operators.ts"
import { Scope } from "./scope.ts"
import { TESTS } from "./tests.ts"
import { str } from "./text.ts"
import { TEXT_FILTERS } from "./text-filters.ts"
import { VALUE_FILTERS } from "./value-filters.ts"
import {
  Callable,
  Dict,
  floatOf,
  iterate,
  lengthOf,
  Loop,
  Namespace,
  textIn,
  truthy,
  Tuple,
  typeName,
  Undefined,
  valueOr,
  type CallArguments,
  type Value,
} from "./values.ts"

/** Bounds of one rendering. */
export interface RenderLimits {
  /** Nodes of the syntax tree that may be evaluated. */
  maxSteps: number
  /** Characters of the output, and of any text made on the way. */
  maxOutput: number
  /** Macros that may be running inside one another. */
  maxDepth: number
}

type Signal = "break" | "continue" | undefined

const FILTERS: Record<string, Filter> = { ...TEXT_FILTERS, ...VALUE_FILTERS }

/**
 * Renders a parsed template.
 *
 * @param variables the context: globals first, then what the caller provides
 * @throws TemplateError with the place in the template
 */
export function renderTree(tree: TemplateTree, variables: Map<string, Value>, limits: RenderLimits): string {
  let at = 0
  let steps = 0
  let depth = 0
  let size = 0
  let output: string[] = []

  const host: FilterHost = { filter: applyFilter, test: applyTest, pick, maxSize: limits.maxOutput }
  const root = new Scope(undefined, variables)

  try {
    run(tree.body, new Scope(root))
    return output.join("")
  } catch (thrown) {
    if (thrown instanceof TemplateError) throw thrown
    const place = placeOf(tree.source, at)
    if (thrown instanceof Failure) throw new TemplateError(thrown.code, thrown.message, place)
    if (thrown instanceof RangeError)
      throw new TemplateError("TEMPLATE_LIMIT", "The template nests or grows too far", place)
    throw thrown
  }

  function step(place: number): void {
    at = place
    steps += 1
    if (steps > limits.maxSteps)
      throw new Failure(`The template took more than ${limits.maxSteps} steps`, "TEMPLATE_LIMIT")
  }

  function write(text: string): void {
    size += text.length
    if (size > limits.maxOutput)
      throw new Failure(`The output is longer than ${limits.maxOutput} characters`, "TEMPLATE_LIMIT")
    output.push(text)
  }

  function checked(text: string): string {
    steps += text.length >> 8
    if (text.length > limits.maxOutput)
      throw new Failure(`A text is longer than ${limits.maxOutput} characters`, "TEMPLATE_LIMIT")
    return text
  }

  /** What a body prints, kept apart from the output. */
  function capture(body: Statement[], scope: Scope): string {
    const outer = output
    output = []
    try {
      run(body, scope)
      return output.join("")
    } finally {
      output = outer
    }
  }

  function run(body: Statement[], scope: Scope): Signal {
    for (const statement of body) {
      const signal = runOne(statement, scope)
      if (signal !== undefined) return signal
    }
    return undefined
  }

  function runOne(statement: Statement, scope: Scope): Signal {
    step(statement.at)
    switch (statement.type) {
      case "text":
        write(statement.text)
        return undefined
      case "output":
        write(str(evaluate(statement.value, scope)))
        return undefined
      case "if": {
        for (const { test, body } of statement.branches) if (truthy(evaluate(test, scope))) return run(body, scope)
        return run(statement.otherwise, scope)
      }
      case "for":
        runLoop(statement, scope, evaluate(statement.over, scope), 1)
        return undefined
      case "set":
        assign(statement.target, evaluate(statement.value, scope), scope)
        return undefined
      case "set-block":
        assign(statement.target, filterAll(statement.filters, capture(statement.body, new Scope(scope)), scope), scope)
        return undefined
      case "filter-block":
        write(str(filterAll(statement.filters, capture(statement.body, new Scope(scope)), scope)))
        return undefined
      case "macro":
        scope.set(statement.macro.name, makeMacro(statement.macro, scope))
        return undefined
      case "call-block": {
        if (statement.call.type !== "call") return undefined
        const args = evaluateArguments(statement.call.args, scope)
        args.named.set("caller", makeMacro(statement.caller, scope))
        write(str(call(evaluate(statement.call.target, scope), args, statement.at)))
        return undefined
      }
      case "scope": {
        const inner = new Scope(scope)
        const values = statement.bindings.map(({ value }) => evaluate(value, scope))
        for (const [index, { target }] of statement.bindings.entries()) assign(target, values[index]!, inner)
        return run(statement.body, inner)
      }
      case "break":
      case "continue":
        return statement.type
    }
  }

  function runLoop(statement: Extract<Statement, { type: "for" }>, scope: Scope, over: Value, level: number): void {
    let items = [...iterate(over)]
    const { test, target } = statement
    if (test !== undefined) {
      items = items.filter((item) => {
        step(statement.at)
        const probe = new Scope(scope)
        assign(target, item, probe)
        return truthy(evaluate(test, probe))
      })
    }
    const recurse = statement.recursive
      ? new Callable("loop", ({ positional: [inner = null] }) => {
          enter()
          const outer = output
          output = []
          try {
            runLoop(statement, scope, inner, level + 1)
            return output.join("")
          } finally {
            output = outer
            depth -= 1
          }
        })
      : undefined
    const loop = new Loop(items, level, recurse)
    for (const item of items) {
      step(statement.at)
      loop.index0 += 1
      const inner = new Scope(scope)
      inner.set("loop", loop)
      assign(target, item, inner)
      if (run(statement.body, inner) === "break") break
    }
    if (items.length === 0) run(statement.otherwise, new Scope(scope))
  }

  function enter(): void {
    depth += 1
    if (depth > limits.maxDepth)
      throw new Failure(`Macros are nested more than ${limits.maxDepth} deep`, "TEMPLATE_LIMIT")
  }

  function assign(target: Target, value: Value, scope: Scope): void {
    if (target.type === "name") scope.set(target.name, value)
    else if (target.type === "member") {
      const owner = scope.get(target.object)
      if (!(owner instanceof Namespace)) throw new Failure("cannot assign attribute on non-namespace object")
      owner.attributes.set(target.name, value)
    } else {
      const items = iterate(value)
      const wanted = target.items.length
      if (items.length > wanted) throw new Failure(`too many values to unpack (expected ${wanted})`)
      if (items.length < wanted)
        throw new Failure(`not enough values to unpack (expected ${wanted}, got ${items.length})`)
      for (const [index, item] of target.items.entries()) assign(item, items[index]!, scope)
    }
  }

  function makeMacro(macro: Macro, scope: Scope): Callable {
    return new Callable(macro.name, ({ positional, named }) => {
      enter()
      const inner = new Scope(scope)
      const rest = new Map(named)
      for (const [index, { name, fallback }] of macro.parameters.entries()) {
        const given = index < positional.length ? positional[index] : rest.get(name)
        rest.delete(name)
        const absent = (): Value =>
          fallback === undefined ? new Undefined(`parameter '${name}' was not provided`) : evaluate(fallback, inner)
        inner.set(name, valueOr(given, absent))
      }
      const caller = rest.get("caller")
      rest.delete("caller")
      if (caller !== undefined) inner.set("caller", caller)
      inner.set("varargs", Tuple.holding(positional.slice(macro.parameters.length)))
      inner.set("kwargs", Dict.from(rest))
      try {
        return checked(capture(macro.body, inner))
      } finally {
        depth -= 1
      }
    })
  }

  function evaluate(node: Expression, scope: Scope): Value {
    step(node.at)
    switch (node.type) {
      case "constant":
        return node.value
      case "float":
        return floatOf(node.value)
      case "name":
        return valueOr(scope.get(node.name), () => new Undefined(`'${node.name}' is undefined`))
      case "list":
        return node.items.map((item) => evaluate(item, scope))
      case "tuple":
        return Tuple.holding(node.items.map((item) => evaluate(item, scope)))
      case "dict":
        return Dict.from(node.entries.map(([key, value]) => [evaluate(key, scope), evaluate(value, scope)] as const))
      case "unary": {
        const value = evaluate(node.operand, scope)
        return node.operator === "not" ? !truthy(value) : sign(node.operator, value)
      }
      case "binary": {
        const left = evaluate(node.left, scope)
        const right = evaluate(node.right, scope)
        at = node.at
        const result = binary(node.operator, left, right, limits.maxOutput)
        if (typeof result === "string") checked(result)
        else if (Array.isArray(result)) steps += result.length
        return result
      }
      case "logic": {
        const left = evaluate(node.left, scope)
        return truthy(left) === (node.operator === "and") ? evaluate(node.right, scope) : left
      }
      case "concat":
        return checked(node.parts.map((part) => str(evaluate(part, scope))).join(""))
      case "compare":
        return compareChain(node, scope)
      case "conditional":
        if (truthy(evaluate(node.test, scope))) return evaluate(node.value, scope)
        return node.otherwise === undefined
          ? new Undefined("the inline if-expression evaluated to false and no else section was defined.")
          : evaluate(node.otherwise, scope)
      case "attribute": {
        const target = evaluate(node.target, scope)
        at = node.at
        return getAttribute(target, node.name)
      }
      case "item": {
        const target = evaluate(node.target, scope)
        const key = evaluate(node.key, scope)
        at = node.at
        return getItem(target, key)
      }
      case "slice": {
        const target = evaluate(node.target, scope)
        const [start, stop, stride] = node.bounds.map((bound) => (bound === undefined ? null : evaluate(bound, scope)))
        at = node.at
        return slice(target, start!, stop!, stride!)
      }
      case "call": {
        const target = evaluate(node.target, scope)
        return call(target, evaluateArguments(node.args, scope), node.at)
      }
      case "filter": {
        const value = evaluate(node.target, scope)
        const args = evaluateArguments(node.args, scope)
        at = node.at
        return applyFilter(node.name, value, args)
      }
      case "test": {
        const value = evaluate(node.target, scope)
        const args = evaluateArguments(node.args, scope)
        at = node.at
        return applyTest(node.name, value, args.positional)
      }
    }
  }

  function compareChain(node: Extract<Expression, { type: "compare" }>, scope: Scope): boolean {
    let left = evaluate(node.first, scope)
    for (const { operator, operand } of node.rest) {
      const right = evaluate(operand, scope)
      at = node.at
      if (!compare(operator, left, right)) return false
      left = right
    }
    return true
  }

  function evaluateArguments(args: Arguments, scope: Scope): CallArguments {
    const positional = args.positional.map((value) => evaluate(value, scope))
    const named = new Map(args.named.map(([name, value]) => [name, evaluate(value, scope)]))
    if (args.spread !== undefined) positional.push(...iterate(evaluate(args.spread, scope)))
    if (args.spreadNamed !== undefined) {
      const extra = evaluate(args.spreadNamed, scope)
      if (!(extra instanceof Dict)) throw new Failure(`argument after ** must be a mapping, not ${typeName(extra)}`)
      for (const [key, value] of extra.entries()) named.set(str(key), value)
    }
    return { positional, named }
  }

  function call(target: Value, args: CallArguments, place: number): Value {
    at = place
    const callable = target instanceof Loop ? target.recurse : target
    if (target instanceof Undefined) throw new Failure(target.reason)
    if (!(callable instanceof Callable)) throw new Failure(`'${typeName(target)}' object is not callable`)
    const result = callable.call(args)
    if (typeof result === "string") checked(result)
    else if (Array.isArray(result)) steps += result.length
    return result
  }

  function filterAll(filters: FilterStep[], text: string, scope: Scope): Value {
    return filters.reduce<Value>((value, filter) => {
      at = filter.at
      return applyFilter(filter.name, value, evaluateArguments(filter.args, scope))
    }, text)
  }

  function applyFilter(name: string, value: Value, args: CallArguments): Value {
    const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined
    if (filter === undefined) throw new Failure(`No filter named '${name}'.`)
    // A filter may run through the whole value.
    steps += lengthOf(value) ?? 1
    const result = filter(value, args, host)
    if (typeof result === "string") checked(result)
    return result
  }

  function applyTest(name: string, value: Value, args: Value[]): boolean {
    const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined
    if (test !== undefined) return test(value, args)
    if (name === "filter" || name === "test")
      return Object.hasOwn(name === "filter" ? FILTERS : TESTS, textIn(value) ?? "")
    throw new Failure(`No test named '${name}'.`)
  }

  /** What `attribute=` arguments reach: a dotted path, numbers being indexes. */
  function pick(value: Value, path: Value): Value {
    const text = textIn(path)
    if (text === undefined) return getItem(value, path)
    return text
      .split(".")
      .reduce<Value>((found, part) => getItem(found, /^\d+$/.test(part) ? Number(part) : part), value)
  }
}
