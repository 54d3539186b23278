/** The parts of ical.js that are used here; its own types are out of reach of its `exports`. */
declare module "ical.js" {
  class Time {
    static fromData(data: {
      year: number
      month: number
      day: number
      hour?: number
      minute?: number
      second?: number
      isDate?: boolean
    }): Time
    year: number
    month: number
    day: number
    hour: number
    minute: number
    second: number
    isDate: boolean
    zone: Timezone | null
  }
  class Duration {
    toSeconds(): number
  }
  class Timezone {
    static readonly utcTimezone: Timezone
    constructor(component: Component)
    utcOffset(time: Time): number
  }
  class Property {
    constructor(name: string)
    readonly name: string
    getParameter(name: string): string | string[] | undefined
    setParameter(name: string, value: string): void
    resetType(type: string): void
    getFirstValue(): unknown
    getValues(): unknown[]
    setValue(value: unknown): void
  }
  class Component {
    constructor(jCal: unknown)
    readonly name: string
    getFirstSubcomponent(name: string): Component | null
    getAllSubcomponents(name?: string): Component[]
    addSubcomponent(component: Component): Component
    removeSubcomponent(component: Component): boolean
    getFirstProperty(name: string): Property | null
    getAllProperties(name: string): Property[]
    getFirstPropertyValue(name: string): unknown
    addProperty(property: Property): Property
    addPropertyWithValue(name: string, value: unknown): Property
    updatePropertyWithValue(name: string, value: unknown): Property
    removeAllProperties(name: string): boolean
    toString(): string
  }
  class Recur {
    static fromString(text: string): Recur
    toString(): string
  }
  function parse(text: string): unknown[]
  const ical: {
    Time: typeof Time
    Duration: typeof Duration
    Timezone: typeof Timezone
    Property: typeof Property
    Component: typeof Component
    Recur: typeof Recur
    parse: typeof parse
  }
  export default ical
  export type { Component, Duration, Property, Recur, Time, Timezone }
}
