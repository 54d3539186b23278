/** The few parts of the DOM that are used here; the rooms are compiled without the browser's types. */
export interface DomNode {
  readonly nodeType: number
  readonly childNodes: Iterable<DomNode>
  readonly parentNode: DomNode | null
  readonly textContent: string | null
  removeChild(child: DomNode): unknown
  cloneNode(deep: boolean): DomNode
}

export interface DomElement extends DomNode {
  innerHTML: string
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  remove(): void
}

export interface DomDocument extends DomNode {
  readonly body: DomElement | null
  readonly documentElement: DomElement
  querySelector(selector: string): DomElement | null
  querySelectorAll(selector: string): Iterable<DomElement>
}
