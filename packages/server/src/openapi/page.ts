/**
 * The interactive documentation: a page of its own, without scripts from elsewhere. It reads the OpenAPI document,
 * shows each tool with a form for its arguments as JSON, and calls it.
 */
export const DOCUMENTATION_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tools API</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
  details { border: 1px solid #8884; border-radius: .5rem; margin: .5rem 0; padding: .5rem 1rem; }
  summary { cursor: pointer; } summary code { font-weight: 600; }
  textarea { width: 100%; min-height: 6rem; box-sizing: border-box; font: .9rem/1.4 ui-monospace, monospace; }
  pre { overflow: auto; max-height: 24rem; background: #8881; padding: .75rem; border-radius: .25rem; }
  label { display: block; margin: .5rem 0; } .tag { opacity: .7; font-size: .85rem; margin-left: .5rem; }
</style>
<h1>Tools API</h1>
<p>Each tool is called with <code>POST /tools/{name}</code> and its arguments as JSON. The document that programs read is
<a href="openapi.json">openapi.json</a>.</p>
<label>Bearer token, where one is needed <input id="token" type="password" autocomplete="off"></label>
<label>Search <input id="search" type="search"></label>
<main id="tools" aria-live="polite">Loading…</main>
<script>
const element = (name, text, attributes = {}) =>
  Object.assign(document.createElement(name), { textContent: text ?? "" }, attributes)
const headers = () => {
  const token = document.getElementById("token").value
  return token ? { authorization: "Bearer " + token } : {}
}
const USUAL = { integer: 1, number: 1, boolean: true, array: [], object: {} }
const sample = (schema) => Object.fromEntries((schema?.required ?? []).map((name) => {
  const property = schema.properties[name] ?? {}
  return [name, property.default ?? property.const ?? property.enum?.[0] ?? USUAL[property.type] ?? ""]
}))
async function load() {
  const main = document.getElementById("tools")
  const response = await fetch("openapi.json", { headers: headers() })
  if (!response.ok) {
    const hint = response.status === 401 ? " (enter a token above)" : ""
    main.textContent = "The tools cannot be shown: " + response.status + hint
    return
  }
  const { paths } = await response.json()
  main.replaceChildren(...Object.entries(paths).map(([path, { post }]) => {
    const box = element("details"), summary = element("summary")
    box.dataset.text = (post.operationId + " " + post.description).toLowerCase()
    summary.append(element("code", post.operationId), element("span", post.tags.join(", "), { className: "tag" }))
    box.append(summary, element("p", post.description))
    const schema = post.requestBody?.content["application/json"].schema
    const input = element("textarea")
    input.value = JSON.stringify(sample(schema), null, 2)
    input.setAttribute("aria-label", "Arguments of " + post.operationId)
    const button = element("button", "Call"), output = element("pre")
    button.onclick = async () => {
      output.textContent = "…"
      const given = { "content-type": "application/json", ...headers() }
      const answer = await fetch(path.slice(1), { method: "POST", headers: given, body: input.value })
      output.textContent = answer.status + "\\n" + JSON.stringify(await answer.json(), null, 2)
    }
    if (schema) {
      const rules = element("details")
      rules.append(element("summary", "Schema"), element("pre", JSON.stringify(schema, null, 2)))
      box.append(rules, input)
    }
    box.append(button, output)
    return box
  }))
}
document.getElementById("token").onchange = load
document.getElementById("search").oninput = (event) => {
  const wanted = event.target.value.toLowerCase()
  for (const box of document.querySelectorAll("main > details")) box.hidden = !box.dataset.text.includes(wanted)
}
load()
</script>
</html>
`
