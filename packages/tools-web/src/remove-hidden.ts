import type { DomDocument, DomElement, DomNode } from "./dom.ts"

/** What carries no text for readers, or text that readers do not see. */
const NEVER_SHOWN = [
  "script",
  "style",
  "noscript",
  "template",
  "iframe",
  "frame",
  "object",
  "embed",
  "applet",
  "svg",
  "canvas",
  "math annotation",
  "form input",
  "select",
  "textarea",
  "button",
  "dialog:not([open])",
  "link",
  "[hidden]",
  '[aria-hidden="true"]',
].join(",")
const MAX_RULES = 500

/** Ways to make text invisible that can be told from a style declaration alone. */
const HIDING = [
  /display\s*:\s*none/i,
  /visibility\s*:\s*(hidden|collapse)/i,
  /opacity\s*:\s*0*(\.0+)?\s*(%|;|!|$)/i,
  /font-size\s*:\s*0*(\.0+)?\s*(px|em|rem|pt|%|;|!|$)/i,
  /(?:^|[;{\s])(?:max-)?(?:width|height)\s*:\s*0(px)?\s*(;|!|$)[^]*overflow\s*:\s*hidden/i,
  /text-indent\s*:\s*-\d{3,}/i,
  /(?:left|top|right|margin-left|margin-top)\s*:\s*-\d{3,}(?:\.\d+)?(px|em|rem|vw|vh)/i,
  /clip\s*:\s*rect\(\s*0[^)]*\)/i,
  /clip-path\s*:\s*inset\(\s*(50|100)%/i,
  /color\s*:\s*transparent/i,
]

/**
 * Removes from a document what a reader does not see, so that text hidden in a page does not reach a model: scripts and
 * the like, comments, `hidden` and `aria-hidden`, and elements that a style attribute or a rule of the page's own style
 * sheets hides. Style sheets in other files are not fetched, and text in the colour of its background is not
 * recognised.
 */
export function removeHidden(document: DomDocument): void {
  const hidingSelectors = [...document.querySelectorAll("style")].flatMap((style) =>
    selectorsThatHide(style.textContent ?? ""),
  )
  for (const element of document.querySelectorAll(NEVER_SHOWN)) element.remove()
  for (const element of document.querySelectorAll("[style]")) {
    if (isHiding(element.getAttribute("style") ?? "")) element.remove()
  }
  for (const selector of hidingSelectors) {
    for (const element of matching(document, selector)) element.remove()
  }
  removeComments(document)
}

function isHiding(declarations: string): boolean {
  return HIDING.some((pattern) => pattern.test(declarations))
}

/**
 * Selectors of rules that hide; rules inside `@media print` and the like are left, for they do not apply on a screen.
 */
function selectorsThatHide(css: string): string[] {
  const rules = css
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/@media[^{]*\b(print|max-width)\b[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/gi, "")
  const selectors: string[] = []
  for (const [, selector, declarations] of rules.matchAll(/([^{}]{1,500})\{([^{}]{0,5000})\}/g)) {
    if (selectors.length >= MAX_RULES) break
    const isPlain = !/[@]|::|:(hover|focus|active|before|after|not|checked|target)/i.test(selector ?? "")
    if (isPlain && isHiding(declarations ?? "")) selectors.push((selector ?? "").trim())
  }
  return selectors
}

function matching(document: DomDocument, selector: string): DomElement[] {
  try {
    return [...document.querySelectorAll(selector)].filter(
      (element) => element !== document.body && element !== document.documentElement,
    )
  } catch {
    return []
  }
}

const COMMENT_NODE = 8

function removeComments(document: DomDocument): void {
  const stack: DomNode[] = [document]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const children = Array.from(node.childNodes)
    for (const child of children) {
      if (child.nodeType === COMMENT_NODE) child.parentNode?.removeChild(child)
      else stack.push(child)
    }
  }
}
