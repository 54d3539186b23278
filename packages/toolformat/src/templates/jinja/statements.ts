import { Failure } from "./errors.ts"
import type { Evaluator } from "./evaluator.ts"
import type { Macro, Statement, Target } from "./nodes.ts"
import { Scope } from "./scope.ts"
import { str } from "./text.ts"
import {
  Callable,
  Dict,
  iterate,
  Loop,
  Namespace,
  truthy,
  Tuple,
  Undefined,
  valueOr,
  type CallArguments,
  type Value,
} from "./values.ts"

/** What leaves the body of a loop. */
type Signal = "break" | "continue" | undefined

type Kind = Statement["type"]
type Node<Type extends Kind> = Extract<Statement, { type: Type }>
type Run<Type extends Kind> = (node: Node<Type>, scope: Scope, evaluator: Evaluator) => Signal

/** What each kind of statement does. */
const STATEMENTS: { readonly [Type in Kind]: Run<Type> } = {
  text: ({ text }, _scope, { rendering }) => done(rendering.write(text)),
  output: ({ value }, scope, evaluator) => done(evaluator.rendering.write(str(evaluator.evaluate(value, scope)))),
  if: ({ branches, otherwise }, scope, evaluator) => {
    const taken = branches.find(({ test }) => truthy(evaluator.evaluate(test, scope)))
    return run(taken?.body ?? otherwise, scope, evaluator)
  },
  for: (node, scope, evaluator) => done(runLoop(node, evaluator.evaluate(node.over, scope), { scope, evaluator }, 1)),
  set: ({ target, value }, scope, evaluator) => done(assign(target, evaluator.evaluate(value, scope), scope)),
  "set-block": ({ target, filters, body }, scope, evaluator) => {
    const text = printed(body, new Scope(scope), evaluator)
    return done(assign(target, evaluator.filterAll(filters, text, scope), scope))
  },
  "filter-block": ({ filters, body }, scope, evaluator) => {
    const text = printed(body, new Scope(scope), evaluator)
    return done(evaluator.rendering.write(str(evaluator.filterAll(filters, text, scope))))
  },
  macro: ({ macro }, scope, evaluator) => done(scope.set(macro.name, makeMacro(macro, scope, evaluator))),
  "call-block": ({ call, caller, at }, scope, evaluator) => {
    if (call.type !== "call") return undefined
    const args = evaluator.arguments(call.args, scope)
    args.named.set("caller", makeMacro(caller, scope, evaluator))
    return done(evaluator.rendering.write(str(evaluator.call(evaluator.evaluate(call.target, scope), args, at))))
  },
  scope: ({ bindings, body }, scope, evaluator) => {
    const inner = new Scope(scope)
    const values = bindings.map(({ value }) => evaluator.evaluate(value, scope))
    for (const [index, { target }] of bindings.entries()) assign(target, values[index]!, inner)
    return run(body, inner, evaluator)
  },
  break: () => "break",
  continue: () => "continue",
}

/** Runs statements until one leaves the loop that they stand in. */
export function run(body: readonly Statement[], scope: Scope, evaluator: Evaluator): Signal {
  for (const statement of body) {
    evaluator.rendering.step(statement.at)
    const signal = (STATEMENTS[statement.type] as Run<Kind>)(statement, scope, evaluator)
    if (signal !== undefined) return signal
  }
  return undefined
}

function done(_nothing: void): undefined {
  return undefined
}

/** What a body prints, kept apart from the output. */
function printed(body: readonly Statement[], scope: Scope, evaluator: Evaluator): string {
  return evaluator.rendering.capture(() => run(body, scope, evaluator))
}

/** Where a loop runs. */
interface Surroundings {
  scope: Scope
  evaluator: Evaluator
}

function runLoop(node: Node<"for">, over: Value, around: Surroundings, level: number): void {
  const { scope, evaluator } = around
  const items = chosen(node, [...iterate(over)], around)
  const recurse = node.recursive
    ? new Callable("loop", ({ positional: [inner = null] }) =>
        evaluator.rendering.captureDeeper(() => runLoop(node, inner, around, level + 1)),
      )
    : undefined
  const loop = new Loop(items, level, recurse)
  for (const item of items) {
    evaluator.rendering.step(node.at)
    loop.index0 += 1
    const inner = new Scope(scope)
    inner.set("loop", loop)
    assign(node.target, item, inner)
    if (run(node.body, inner, evaluator) === "break") break
  }
  if (items.length === 0) run(node.otherwise, new Scope(scope), evaluator)
}

/** The items that a loop's own test lets through. */
function chosen({ at, test, target }: Node<"for">, items: Value[], { scope, evaluator }: Surroundings): Value[] {
  if (test === undefined) return items
  return items.filter((item) => {
    evaluator.rendering.step(at)
    const probe = new Scope(scope)
    assign(target, item, probe)
    return truthy(evaluator.evaluate(test, probe))
  })
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

function makeMacro(macro: Macro, scope: Scope, evaluator: Evaluator): Callable {
  const { rendering } = evaluator
  return new Callable(macro.name, (args) =>
    rendering.checked(
      rendering.captureDeeper(() => run(macro.body, macroScope(macro, args, scope, evaluator), evaluator)),
    ),
  )
}

/** The names inside a macro: its parameters, and what was given beyond them. */
function macroScope(macro: Macro, { positional, named }: CallArguments, scope: Scope, evaluator: Evaluator): Scope {
  const inner = new Scope(scope)
  const rest = new Map(named)
  for (const [index, { name, fallback }] of macro.parameters.entries()) {
    const given = index < positional.length ? positional[index] : rest.get(name)
    rest.delete(name)
    const absent = (): Value =>
      fallback === undefined
        ? new Undefined(`parameter '${name}' was not provided`)
        : evaluator.evaluate(fallback, inner)
    inner.set(name, valueOr(given, absent))
  }
  const caller = rest.get("caller")
  rest.delete("caller")
  if (caller !== undefined) inner.set("caller", caller)
  inner.set("varargs", Tuple.holding(positional.slice(macro.parameters.length)))
  inner.set("kwargs", Dict.from(rest))
  return inner
}
