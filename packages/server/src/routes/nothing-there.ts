import type { Hono } from "hono"
import { problem } from "../http/problem.ts"
import { routesOf, type Routes } from "./entrance.ts"

/**
 * The answer where nothing is: what was probably meant, since addresses that clients are given end too early or too
 * late, and else what there is.
 */
export function nothingThere(app: Pick<Hono, "routes">): (asked: { method: string; path: string }) => Response {
  return ({ method, path }) => {
    const routes = routesOf(app.routes)
    const methods = methodsAt(routes, path)
    // A route that takes the method, and has nothing by this name, is where nothing is.
    if (methods.length > 0 && !methods.includes(method === "HEAD" ? "GET" : method))
      return problem(
        {
          code: "METHOD_NOT_ALLOWED",
          message: `There is nothing at ${path} for ${method}.`,
          hint: `Ask with ${methods.join(" or ")}.`,
        },
        { allow: methods.join(", ") },
      )
    const message = `There is nothing at ${path}.`
    return problem({ code: "NOT_FOUND", message, hint: meant(routes, path) ?? served(routes, path) })
  }
}

/** What is answered at a path: by a route of just this name, or else by those with a parameter in its place. */
function methodsAt(routes: Routes, path: string): readonly string[] {
  const asked = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  const own = routes[asked] ?? routes[`${asked}/`]
  if (own !== undefined) return own
  const parts = asked.split("/")
  const fitting = Object.entries(routes).filter(([route]) => fits(route.split("/"), parts))
  return [...new Set(fitting.flatMap(([, methods]) => methods))]
}

function fits(route: readonly string[], parts: readonly string[]): boolean {
  return (
    route.length === parts.length &&
    route.every((part, at) => (part.startsWith(":") ? parts[at] !== "" : part === parts[at]))
  )
}

/** Routes of which only the beginning is missing, or before which something stands that is no part of them. */
function meant(routes: Routes, path: string): string | undefined {
  const whole = Object.keys(routes).filter((route) => route.length > 1 && !route.includes(":") && route !== path)
  const shortened = whole.find((route) => path.length > 1 && route.endsWith(path))
  if (shortened !== undefined) {
    const base = shortened.slice(0, -path.length)
    return `Did you mean ${shortened}? Then the address that the client was given has to end in ${base}.`
  }
  const lengthened = whole.filter((route) => path.endsWith(route)).sort((one, other) => other.length - one.length)[0]
  if (lengthened === undefined) return undefined
  const extra = path.slice(0, -lengthened.length)
  return `Did you mean ${lengthened}? Then ${extra} is too much in the address that the client was given.`
}

/** What there is beside a path that a client of a model asked for. */
function served(routes: Routes, path: string): string {
  const [top = ""] = /^\/(?:v1|api)\//.exec(path) ?? []
  const beside = Object.entries(routes).filter(([route]) => top !== "" && route.startsWith(top) && !route.includes(":"))
  if (beside.length === 0) return "GET /docs shows what there is."
  return `There is: ${beside.map(([route, methods]) => `${methods.join("/")} ${route}`).join(", ")}.`
}
