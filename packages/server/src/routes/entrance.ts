import type { Context, Hono } from "hono"
import { SERVICE } from "../options.ts"
import type { PageSource } from "../http/sources.ts"
import { frontPage } from "./page.ts"

/** A route that is served: its methods, by path. */
export type Routes = Readonly<Record<string, readonly string[]>>

/**
 * What answers at `/`: all that is served, for a program as JSON, for a person as the page, or where there is none as a
 * list with a link to each that can be looked at. Read from the application itself, so that it names what is there.
 */
export function entrance(app: Pick<Hono, "routes">, source?: PageSource): (context: Context) => Promise<Response> {
  return async (context) => {
    const routes = routesOf(app.routes)
    if ((context.req.header("accept") ?? "").includes("text/html")) {
      const front = source === undefined ? undefined : await frontPage(source)
      if (front !== undefined) return front
      return new Response(page(routes), {
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        },
      })
    }
    return Response.json({ service: SERVICE.title, version: SERVICE.version, documentation: "/docs", routes })
  }
}

export function routesOf(all: Hono["routes"]): Routes {
  const served: Record<string, string[]> = {}
  for (const { method, path } of all) {
    // What stands around every route is no route of its own.
    if (method === "ALL" || path.endsWith("*")) continue
    const methods = (served[path] ??= [])
    if (!methods.includes(method)) methods.push(method)
  }
  return served
}

function page(routes: Routes): string {
  const rows = Object.entries(routes).map(([path, methods]) => {
    const name = escaped(path)
    const shown = methods.includes("GET") && !path.includes(":") ? `<a href="${name.slice(1)}">${name}</a>` : name
    return `<li><code>${methods.join(", ")}</code> ${shown}</li>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${SERVICE.title}</title>
<style>
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
</style>
<h1>${SERVICE.title}</h1>
<p><a href="docs">Try the tools</a>, or read <a href="openapi.json">the document that programs read</a>.
This is served here:</p>
<ul>
${rows.join("\n")}
</ul>
`
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")
