import { Context, type Effect, Layer } from "effect"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"

/** The example page as Vite builds it: made before the first test of a file, so that none waits for it. */
export class ExamplePage extends Context.Tag("test/ExamplePage")<
  ExamplePage,
  Effect.Effect.Success<typeof BrowserDemo.built>
>() {
  static readonly Live = Layer.effect(ExamplePage, BrowserDemo.built)
}
