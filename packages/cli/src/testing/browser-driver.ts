/**
 * The part of `playwright-core` that tests use, by shape: the package is installed apart, and what tests are checked
 * against must not come and go with it. `.ci/clients` holds this against the real one.
 */
export interface Driver {
  readonly chromium: {
    launch(options: { executablePath: string; args: string[]; timeout: number }): Promise<Browser>
  }
}

export interface Browser {
  newContext(options?: ContextOptions): Promise<Context>
  newPage(options?: ContextOptions): Promise<Page>
  contexts(): Context[]
  close(): Promise<void>
}

export interface ContextOptions {
  viewport?: Size
  permissions?: string[]
  colorScheme?: "dark" | "light"
  deviceScaleFactor?: number
  reducedMotion?: "reduce"
}

interface Size {
  width: number
  height: number
}

interface Context {
  newPage(): Promise<Page>
  newCDPSession(page: Page): Promise<Session>
  close(): Promise<void>
}

/** What the browser answers to the questions that are put to it past the driver. */
interface Answers {
  "Page.captureScreenshot": { data: string }
  "Performance.getMetrics": { metrics: { name: string; value: number }[] }
  "Runtime.getHeapUsage": { usedSize: number }
}

interface Traffic {
  "Network.loadingFinished": { encodedDataLength: number }
  "Network.dataReceived": { dataLength: number }
}

interface Session {
  send<Method extends string>(
    method: Method,
    parameters?: object,
  ): Promise<Method extends keyof Answers ? Answers[Method] : unknown>
  on<Name extends keyof Traffic>(name: Name, listener: (happened: Traffic[Name]) => void): unknown
  detach(): Promise<void>
}

interface Download {
  suggestedFilename(): string
  saveAs(path: string): Promise<void>
}

interface Route {
  continue(): Promise<void>
}

interface UploadedFile {
  name: string
  mimeType: string
  buffer: Buffer
}

interface Request {
  url(): string
  method(): string
  postData(): string | null
}

interface Happenings {
  request: Request
  pageerror: Error
  dialog: { message(): string; dismiss(): Promise<void> }
  console: { text(): string }
}

type RoleOptions = {
  name?: string | RegExp
  exact?: boolean
  selected?: boolean
  expanded?: boolean
  level?: number
}

/** Where parts of a page are looked for. */
interface Searchable {
  getByRole(role: string, options?: RoleOptions): Locator
  getByText(text: string | RegExp, options?: { exact?: boolean }): Locator
  getByLabel(text: string | RegExp, options?: { exact?: boolean }): Locator
  locator(selector: string): Locator
}

export interface Locator extends Searchable {
  first(): Locator
  last(): Locator
  nth(index: number): Locator
  or(other: Locator): Locator
  filter(options: { hasText?: string | RegExp; has?: Locator }): Locator
  waitFor(options?: { state?: "attached" | "detached" | "visible" | "hidden"; timeout?: number }): Promise<void>
  click(): Promise<void>
  check(): Promise<void>
  fill(text: string): Promise<void>
  press(key: string): Promise<void>
  focus(): Promise<void>
  selectOption(value: string): Promise<string[]>
  setInputFiles(files: string | UploadedFile): Promise<void>
  scrollIntoViewIfNeeded(): Promise<void>
  textContent(): Promise<string | null>
  inputValue(): Promise<string>
  getAttribute(name: string): Promise<string | null>
  allInnerTexts(): Promise<string[]>
  count(): Promise<number>
  isDisabled(): Promise<boolean>
  isEnabled(): Promise<boolean>
  evaluate<Result>(work: (element: HTMLElement) => Result): Promise<Awaited<Result>>
}

export interface Page extends Searchable {
  goto(address: string): Promise<unknown>
  reload(): Promise<unknown>
  url(): string
  close(): Promise<void>
  context(): Context
  emulateMedia(options: { colorScheme?: "dark" | "light"; reducedMotion?: "reduce" }): Promise<void>
  setViewportSize(size: Size): Promise<void>
  setDefaultTimeout(milliseconds: number): void
  setContent(html: string): Promise<void>
  textContent(selector: string): Promise<string | null>
  on<Name extends keyof Happenings>(name: Name, listener: (happened: Happenings[Name]) => void): unknown
  evaluate<Result>(work: string | (() => Result)): Promise<Awaited<Result>>
  evaluate<Result, Value>(work: (value: Value) => Result, value: Value): Promise<Awaited<Result>>
  goBack(): Promise<unknown>
  route(address: RegExp, handler: (route: Route) => Promise<void>): Promise<unknown>
  waitForEvent(name: "download"): Promise<Download>
  waitForRequest(wanted: (request: Request) => boolean): Promise<Request>
  waitForURL(address: string | RegExp | ((now: URL) => boolean)): Promise<void>
  waitForLoadState(state?: "load" | "networkidle"): Promise<void>
  readonly keyboard: {
    press(key: string): Promise<void>
    type(text: string): Promise<void>
    insertText(text: string): Promise<void>
  }
  readonly mouse: { move(x: number, y: number): Promise<void> }
}
