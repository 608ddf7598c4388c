import ts from "typescript"
import { isExample } from "../examples.js"
import {
  all,
  call,
  calling,
  name,
  property,
  provided,
  renamedProperties,
  type Rendering,
  type Rewrite,
  shortened
} from "../rule.js"
import { halves } from "../source.js"

/** A layer of what is a service on 4 as any other. */
const layerOf = (module: string, service: string): Rewrite =>
  call((args, rendering) =>
    `${rendering.need("effect/Layer")}.succeed(${rendering.need(module)}.${service}, ${all(rendering, args)})`
  )

/** A fold of a stream, whose start is made when it runs. */
const folded = (member: string): Rewrite =>
  call((args, rendering) => {
    const start = args.at(-2)
    const step = args.at(-1)
    return start && step &&
      `${rendering.need("effect/Stream")}.${member}(${
        [...args.slice(0, -2).map(rendering.render), `() => (${rendering.render(start)})`, rendering.render(step)].join(
          ", "
        )
      })`
  })

/** A method of a semaphore is a function of its module on 4. */
const ofSemaphore = (member: string): Rewrite => (node, rendering) =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
    ? `${rendering.need("effect/Semaphore")}.${member}(${rendering.render(node.expression.expression)}, ${
      all(rendering, node.arguments)
    })`
    : undefined

const immediately = "{ startImmediately: true }"

// on 4 a fiber starts later, and is interruptible wherever it was started, unless it is told otherwise
const started = `{ startImmediately: true, uninterruptible: "inherit" }`

const forking = (member: string): Rewrite => (node, rendering) =>
  ts.isCallExpression(node)
    ? calling("effect/Effect", member, started)(node, rendering)
    : name(({ need }) => `${need("effect/Effect")}.${member}(${started})`)(node, rendering)

/** A fiber that ends with a scope, if the options of its start name one. */
const inScope = (rendering: Rendering, fiber: string, options: ts.Node | undefined): string | undefined => {
  const scope = property(rendering, options, "scope")
  return scope && `${rendering.need("effect/Fiber")}.runIn(${fiber}, ${scope})`
}

/** A class that extends what `Context.Tag` gives. */
const tag: Rewrite = (node, rendering) => {
  if (!ts.isCallExpression(node) || !ts.isCallExpression(node.expression)) return undefined
  const types = node.typeArguments ?? []
  return `${rendering.need("effect/Context")}.Service<${all(rendering, types)}>()(${
    all(rendering, node.expression.arguments)
  })`
}

const either = { onLeft: "onFailure", onRight: "onSuccess" }

const matched = (member: string) =>
  call((args, rendering) =>
    `${rendering.need("effect/Result")}.${member}(${
      args.map((one) => renamedProperties(rendering, one, either) ?? rendering.render(one)).join(", ")
    })`
  )

/** Rules for the other modules of `effect`. */
export const effectRules: ReadonlyArray<readonly [member: string, Rewrite]> = [
  [
    "effect/Array.filterMap",
    call((args, rendering) => {
      const array = rendering.need("effect/Array")
      return `${array}.getSomes(${array}.map(${all(rendering, args)}))`
    })
  ],
  [
    "effect/Array.partition",
    call(([values, isIn], { render }) =>
      values && isIn &&
      `[${render(values)}.filter((value) => !(${render(isIn)})(value)), ${render(values)}.filter(${render(isIn)})]`
    )
  ],
  [
    "effect/Cause.defects",
    call(([cause], { need, render }) =>
      cause && `${render(cause)}.reasons.filter(${need("effect/Cause")}.isDieReason).map(({ defect }) => defect)`
    )
  ],
  [
    "effect/Cause.dieOption",
    (node, rendering) => {
      const found = (cause: string) =>
        `${rendering.need("effect/Result")}.getSuccess(${rendering.need("effect/Cause")}.findDefect(${cause}))`
      return ts.isCallExpression(node) ? found(all(rendering, node.arguments)) : `(cause) => ${found("cause")}`
    }
  ],
  [
    "effect/Cause.failureOrCause",
    call((args, rendering) =>
      `${rendering.need("effect/Result")}.flip(${rendering.need("effect/Cause")}.findError(${all(rendering, args)}))`
    )
  ],
  [
    "effect/Cause.keepDefects",
    call(([cause], { need, render }) => {
      const own = need("effect/Cause")
      const option = need("effect/Option")
      return cause &&
        `${option}.map(${option}.liftPredicate(${
          render(cause)
        }.reasons.filter(${own}.isDieReason), (dies) => dies.length > 0), ${own}.fromReasons<never>)`
    })
  ],
  ["effect/Cause.pretty", shortened("effect/Cause", "pretty", 1)],
  [
    "effect/ConfigProvider.fromMap",
    call(([values], { need, render }) =>
      values && `${need("effect/ConfigProvider")}.fromEnv({ env: Object.fromEntries(${render(values)}) })`
    )
  ],
  ["effect/Console.setConsole", layerOf("effect/Console", "Console")],
  ["effect/Context.Tag", tag],
  ["effect/Deferred.unsafeMake", shortened("effect/Deferred", "makeUnsafe", 0)],
  ["effect/Effect.Semaphore#release", ofSemaphore("release")],
  ["effect/Effect.Semaphore#take", ofSemaphore("take")],
  [
    "effect/Effect.catchIf",
    call((args, rendering) =>
      args.length === 3
        ? `${rendering.need("effect/Effect")}.catchIf(${all(rendering, args)}, ${rendering.need("effect/Effect")}.fail)`
        : undefined
    )
  ],
  [
    "effect/Effect.dieMessage",
    call((args, rendering) => `${rendering.need("effect/Effect")}.die(new Error(${all(rendering, args)}))`)
  ],
  // who is interrupted waits for the end of what it runs, unless that is a fiber that it only joins
  [
    "effect/Effect.disconnect",
    (node, { need, render }) => {
      const effect = need("effect/Effect")
      const joined = `${effect}.onInterrupt(restore(${
        need("effect/Fiber")
      }.join(fiber)), () => ${effect}.sync(() => fiber.interruptUnsafe()))`
      const disconnect =
        `<A, E, R>(effect: ${effect}.Effect<A, E, R>) => ${effect}.uninterruptibleMask((restore) => ${effect}.flatMap(${effect}.forkDetach(restore(effect), ${started}), (fiber) => ${joined}))`
      if (!ts.isCallExpression(node)) return halves(node) === undefined ? undefined : disconnect
      const [disconnected] = node.arguments
      return disconnected && `(${disconnect})(${render(disconnected)})`
    }
  ],
  ["effect/Effect.fork", forking("forkChild")],
  [
    "effect/Effect.forkAll",
    call(([effects], { need, render }) =>
      effects &&
      `${need("effect/Effect")}.forEach(${render(effects)}, (effect) => ${
        need("effect/Effect")
      }.forkChild(effect, ${started}))`
    )
  ],
  ["effect/Effect.forkDaemon", forking("forkDetach")],
  ["effect/Effect.forkIn", forking("forkIn")],
  ["effect/Effect.forkScoped", forking("forkScoped")],
  ["effect/Effect.ignoreLogged", (node, rendering) => {
    const ignore = `${rendering.need("effect/Effect")}.ignoreCause`
    if (ts.isCallExpression(node)) return `${ignore}(${all(rendering, node.arguments)}, { log: "Debug" })`
    return halves(node) === undefined ? undefined : `${ignore}({ log: "Debug" })`
  }],
  // who is second does not wait for the first
  [
    "effect/Effect.once",
    call(([effect], { need, render }) => {
      const own = need("effect/Effect")
      const ref = need("effect/Ref")
      return effect &&
        `${own}.map(${ref}.make(true), (first) => ${own}.asVoid(${own}.when(${
          render(effect)
        }, ${ref}.getAndSet(first, false))))`
    })
  ],
  [
    "effect/Effect.repeatN",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      const times = args.at(-1)
      return times &&
        `${effect}.repeat(${
          [...args.slice(0, -1).map(rendering.render), `{ times: ${rendering.render(times)} }`].join(", ")
        })`
    })
  ],
  [
    "effect/Effect.runFork",
    call(([effect, options], rendering) =>
      effect && inScope(rendering, `${rendering.need("effect/Effect")}.runFork(${rendering.render(effect)})`, options)
    )
  ],
  ["effect/Effect.scope", name(({ need }) => `${need("effect/Effect")}.scope`)],
  // a defect is no cause on 4
  [
    "effect/Effect.tapDefect",
    call((args, rendering) => {
      const tap = args.at(-1)
      return tap &&
        `${rendering.need("effect/Effect")}.tapDefect(${
          [
            ...args.slice(0, -1).map(rendering.render),
            `${rendering.need("effect/Function")}.flow(${rendering.need("effect/Cause")}.die, ${rendering.render(tap)})`
          ].join(", ")
        })`
    })
  ],
  [
    "effect/Effect.timeoutFail",
    call((args, rendering) => {
      const options = args.at(-1)
      const duration = property(rendering, options, "duration")
      const onTimeout = property(rendering, options, "onTimeout")
      const effect = rendering.need("effect/Effect")
      return duration && onTimeout &&
        `${effect}.timeoutOrElse(${
          [
            ...args.slice(0, -1).map(rendering.render),
            `{ duration: ${duration}, orElse: () => ${effect}.failSync(${onTimeout}) }`
          ].join(", ")
        })`
    })
  ],
  [
    "effect/Effect.timeoutTo",
    call(([options], rendering) => {
      const effect = rendering.need("effect/Effect")
      const duration = property(rendering, options, "duration")
      const onSuccess = property(rendering, options, "onSuccess")
      const onTimeout = property(rendering, options, "onTimeout")
      return duration && onSuccess && onTimeout &&
        `(effect) => ${effect}.timeoutOrElse(${effect}.map(effect, ${onSuccess}), { duration: ${duration}, orElse: () => ${effect}.sync(${onTimeout}) })`
    })
  ],
  [
    "effect/Effect.transposeMapOption",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      const option = rendering.need("effect/Option")
      return args.length === 1
        ? `((option) => ${effect}.transposeOption(${option}.map(option, ${all(rendering, args)})))`
        : `${effect}.transposeOption(${option}.map(${all(rendering, args)}))`
    })
  ],
  [
    "effect/Effect.unlessEffect",
    call(([effect, condition], { need, render }) =>
      effect && condition &&
      `${need("effect/Effect")}.when(${render(effect)}, ${need("effect/Effect")}.map(${
        render(condition)
      }, (holds) => !holds))`
    )
  ],
  [
    "effect/Effect.when",
    call(([effect, condition], { need, render }) =>
      effect && condition &&
      `${need("effect/Effect")}.when(${render(effect)}, ${need("effect/Effect")}.sync(${render(condition)}))`
    )
  ],
  ["effect/Effect.withClock", provided(({ need }) => `${need("effect/Clock")}.Clock`)],
  ["effect/Effect.withConfigProvider", provided(({ need }) => `${need("effect/ConfigProvider")}.ConfigProvider`)],
  ["effect/Effect.withRandom", provided(({ need }) => `${need("effect/Random")}.Random`)],
  ["effect/Effect.withScheduler", provided(({ need }) => `${need("effect/Scheduler")}.Scheduler`)],
  [
    "effect/Effect.withSpan",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      const options = args.at(-1)
      const stack = property(rendering, options, "captureStackTrace")
      if (stack === undefined) return undefined
      const others = renamedProperties(rendering, options, { captureStackTrace: undefined })
      return `${effect}.withSpan(${all(rendering, args.slice(0, -1))}, ${others}, { captureStackTrace: ${stack} })`
    })
  ],
  // on 4, a client also sends what it knows of a span that is not traced
  [
    "effect/Effect.withTracerEnabled",
    call(([isEnabled, ...more], { need, render }) =>
      isEnabled && more.length === 0
        ? `(effect) => ${need("effect/Effect")}.provideService(${need("effect/Effect")}.provideService(effect, ${
          need("effect/References")
        }.TracerEnabled, ${render(isEnabled)}), ${need("effect/Tracer")}.DisablePropagation, !${render(isEnabled)})`
        : undefined
    )
  ],
  ["effect/Effect.yieldNow", call((_args, { need }) => `${need("effect/Effect")}.yieldNow`)],
  [
    "effect/Effect.zipLeft",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      if (args.length === 1) return `${effect}.tap(() => ${all(rendering, args)})`
      const [first, second, options] = args
      if (first === undefined || second === undefined) return undefined
      return options === undefined
        ? `${effect}.tap(${rendering.render(first)}, () => ${rendering.render(second)})`
        : `${effect}.map(${effect}.zip(${all(rendering, args)}), ([first]) => first)`
    })
  ],
  [
    "effect/Effect.zipRight",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      return args.length === 3
        ? `${effect}.map(${effect}.zip(${all(rendering, args)}), ([, second]) => second)`
        : `${effect}.andThen(${all(rendering, args)})`
    })
  ],
  ["effect/Either.match", matched("match")],
  [
    "effect/Either.zipWith",
    call(([one, other, combine], { need, render }) => {
      const result = need("effect/Result")
      return one && other && combine && ts.isArrowFunction(combine)
        ? `${result}.map(${result}.all([${render(one)}, ${render(other)}]), ([${
          combine.parameters.map(render).join(", ")
        }]) => ${render(combine.body)})`
        : undefined
    })
  ],
  [
    "effect/Exit.getOrElse",
    call(([otherwise], { need, render }) =>
      otherwise && `${need("effect/Exit")}.match({ onFailure: ${render(otherwise)}, onSuccess: (value) => value })`
    )
  ],
  [
    "effect/Fiber.Fiber#poll",
    (node, { need, render }) =>
      ts.isPropertyAccessExpression(node)
        ? `${need("effect/Effect")}.sync(() => ${need("effect/Option")}.fromNullishOr(${
          render(node.expression)
        }.pollUnsafe()))`
        : undefined
  ],
  [
    "effect/Fiber.RuntimeFiber#unsafeInterruptAsFork",
    (node, { render }) =>
      ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
        ? `${render(node.expression.expression)}.interruptUnsafe()`
        : undefined
  ],
  [
    "effect/Fiber.RuntimeFiber#unsafePoll",
    (node, { render }) =>
      ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
        ? `(${render(node.expression.expression)}.pollUnsafe() ?? null)`
        : undefined
  ],
  [
    "effect/Fiber.interruptFork",
    (node, rendering) => {
      const effect = rendering.need("effect/Effect")
      if (ts.isCallExpression(node)) {
        return `${effect}.sync(() => ${all(rendering, node.arguments)}.interruptUnsafe())`
      }
      return halves(node) === undefined ? undefined : `(fiber) => ${effect}.sync(() => fiber.interruptUnsafe())`
    }
  ],
  ["effect/Fiber.never", name(({ need }) => `${need("effect/Effect")}.runFork(${need("effect/Effect")}.never)`)],
  [
    "effect/Fiber.poll",
    (node, rendering) => {
      const poll = (fiber: string) =>
        `${rendering.need("effect/Effect")}.sync(() => ${
          rendering.need("effect/Option")
        }.fromNullishOr(${fiber}.pollUnsafe()))`
      if (ts.isCallExpression(node)) return poll(`(${all(rendering, node.arguments)})`)
      return halves(node) === undefined ? undefined : `(fiber) => ${poll("fiber")}`
    }
  ],
  ["effect/FiberSet.run", calling("effect/FiberSet", "run", immediately)],
  ["effect/Hash.cached", call(([, hash], { render }) => hash && render(hash))],
  [
    "effect/Inspectable.toStringUnknown",
    call(([value], { need, render }) => value && `${need("effect/Formatter")}.format(${render(value)})`)
  ],
  [
    "effect/Layer.fail",
    call((args, rendering) =>
      `${rendering.need("effect/Layer")}.effectContext(${rendering.need("effect/Effect")}.fail(${
        all(rendering, args)
      }))`
    )
  ],
  [
    "effect/Layer.map",
    call(([layer, change], { need, render }) =>
      layer && change &&
      `${need("effect/Layer")}.effectContext(${need("effect/Effect")}.map(${need("effect/Layer")}.build(${
        render(layer)
      }), ${render(change)}))`
    )
  ],
  ["effect/Layer.setRandom", layerOf("effect/Random", "Random")],
  ["effect/Layer.setTracer", layerOf("effect/Tracer", "Tracer")],
  ["effect/LogLevel.All", name(() => `"All"`)],
  [
    "effect/LogLevel.All#label",
    (node, { render }) => ts.isPropertyAccessExpression(node) ? `${render(node.expression)}.toUpperCase()` : undefined
  ],
  // of all levels, one has another name
  [
    "effect/LogLevel.All#_tag",
    (node, { render }) =>
      ts.isPropertyAccessExpression(node) ? `${render(node.expression)}.replace(/^Warn$/, "Warning")` : undefined
  ],
  ["effect/LogLevel.Debug", name(() => `"Debug"`)],
  ["effect/LogLevel.None", name(() => `"None"`)],
  ["effect/Logger.minimumLogLevel", layerOf("effect/References", "MinimumLogLevel")],
  [
    "effect/Logger.replace",
    call(([, logger], { need, render }) => logger && `${need("effect/Logger")}.layer([${render(logger)}])`)
  ],
  ["effect/Logger.withMinimumLogLevel", provided(({ need }) => `${need("effect/References")}.MinimumLogLevel`)],
  [
    "effect/Metric.histogram",
    call(([name, boundaries, description], { need, render }) =>
      name && boundaries && description &&
      `${need("effect/Metric")}.histogram(${render(name)}, { boundaries: ${render(boundaries)}, description: ${
        render(description)
      } })`
    )
  ],
  [
    "effect/Metric.increment",
    call((args, rendering) => `${rendering.need("effect/Metric")}.update(${all(rendering, args)}, 1)`)
  ],
  ["effect/Metric.incrementBy", calling("effect/Metric", "update")],
  [
    "effect/Metric.tagged",
    call(([metric, key, value], { need, render }) =>
      metric === undefined || key === undefined || value === undefined ?
        undefined
        : `${need("effect/Metric")}.withAttributes(${render(metric)}, { [${render(key)}]: ${render(value)} })`
    )
  ],
  [
    "effect/Metric.timerWithBoundaries",
    call(([name, boundaries, description], { need, render }) =>
      name && boundaries && description &&
      `${need("effect/Metric")}.timer(${render(name)}, { boundaries: ${render(boundaries)}, description: ${
        render(description)
      } })`
    )
  ],
  [
    "effect/MetricBoundaries.MetricBoundaries#values",
    (node, { render }) => ts.isPropertyAccessExpression(node) ? render(node.expression) : undefined
  ],
  ["effect/MetricBoundaries.exponential", calling("effect/Metric", "exponentialBoundaries")],
  ["effect/Random.nextIntBetween", calling("effect/Random", "nextIntBetween", "{ halfOpen: true }")],
  [
    "effect/Record.filterMap",
    call((args, rendering) => {
      const record = rendering.need("effect/Record")
      return `${record}.getSomes(${record}.map(${all(rendering, args)}))`
    })
  ],
  [
    "effect/Runtime.runFork",
    (node, rendering) => {
      if (!ts.isCallExpression(node)) return undefined
      const fork = `${rendering.need("effect/Effect")}.runForkWith`
      if (!ts.isCallExpression(node.expression)) return `${fork}(${all(rendering, node.arguments)})`
      const [effect, options] = node.arguments
      return effect &&
        inScope(rendering, `${rendering.render(node.expression)}(${rendering.render(effect)})`, options)
    }
  ],
  [
    "effect/Schedule.intersect",
    call((args, rendering) => `${rendering.need("effect/Schedule")}.max([${all(rendering, args)}])`)
  ],
  [
    "effect/Schedule.union",
    call(([other], { need, render }) =>
      other && `(schedule) => ${need("effect/Schedule")}.min([schedule, ${render(other)}])`
    )
  ],
  [
    "effect/Schedule.upTo",
    call(([duration], { need, render }) =>
      duration && `${need("effect/Schedule")}.upTo({ duration: ${render(duration)} })`
    )
  ],
  ["effect/Scope.fork", shortened("effect/Scope", "fork", 1)],
  ["effect/Stream.asyncPush", calling("effect/Stream", "callback")],
  [
    "effect/Stream.acquireRelease",
    call((args, rendering) => {
      const stream = rendering.need("effect/Stream")
      return `${stream}.scoped(${stream}.fromEffect(${rendering.need("effect/Effect")}.acquireRelease(${
        all(rendering, args)
      })))`
    })
  ],
  [
    "effect/Stream.dieMessage",
    call((args, rendering) => `${rendering.need("effect/Stream")}.die(new Error(${all(rendering, args)}))`)
  ],
  [
    "effect/Stream.flatMap",
    call((args, rendering) => {
      const mapped = args.slice(0, -1)
      return property(rendering, args.at(-1), "switch") === "true"
        ? `${rendering.need("effect/Stream")}.switchMap(${all(rendering, mapped)})`
        : undefined
    })
  ],
  [
    "effect/Stream.fromReadableStream",
    call(([evaluate, onError], { need, render }) =>
      evaluate && onError &&
      `${need("effect/Stream")}.fromReadableStream({ evaluate: ${render(evaluate)}, onError: ${render(onError)} })`
    )
  ],
  [
    "effect/Stream.repeatEffectOption",
    call(([effect], { need, render }) =>
      effect &&
      `${need("effect/Stream")}.fromEffectRepeat(${need("effect/Effect")}.mapError(${render(effect)}, ${
        need("effect/Option")
      }.getOrElse(() => ${need("effect/Cause")}.Done())))`
    )
  ],
  [
    "effect/Stream.mapConcat",
    call((args, rendering) => {
      const stream = rendering.need("effect/Stream")
      return args.length === 2 ? `${stream}.flattenIterable(${stream}.map(${all(rendering, args)}))` : undefined
    })
  ],
  [
    "effect/Stream.repeatValue",
    call((args, rendering) => {
      const stream = rendering.need("effect/Stream")
      return `${stream}.forever(${stream}.succeed(${all(rendering, args)}))`
    })
  ],
  ["effect/Stream.runCollect", (node, rendering) => {
    // what is shown to users takes the array as it is
    if (isExample(node)) return undefined
    const { need } = rendering
    const collected = `${need("effect/Stream")}.runCollect`
    const asChunk = `${need("effect/Chunk")}.fromIterable`
    if (ts.isCallExpression(node)) {
      return `${need("effect/Effect")}.map(${collected}(${all(rendering, node.arguments)}), ${asChunk})`
    }
    return ts.isPropertyAccessExpression(node) ? `${collected}, ${need("effect/Effect")}.map(${asChunk})` : undefined
  }],
  ["effect/Stream.runFold", folded("runFold")],
  ["effect/Stream.runFoldEffect", folded("runFoldEffect")],
  [
    "effect/Stream.timeoutFail",
    call(([failure, duration], { need, render }) => {
      const stream = need("effect/Stream")
      return failure && duration &&
        `${stream}.timeoutOrElse({ duration: ${render(duration)}, orElse: () => ${stream}.fail((${
          render(failure)
        })()) })`
    })
  ],
  [
    "effect/StreamEmit.EmitOpsPush#single",
    (node, rendering) =>
      ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
        ? `${rendering.need("effect/Queue")}.offerUnsafe(${rendering.render(node.expression.expression)}, ${
          all(rendering, node.arguments)
        })`
        : undefined
  ],
  ["effect/Subscribable.Subscribable", (node, { need, render }) => {
    if (!ts.isTypeReferenceNode(node)) return undefined
    const type = node.typeArguments?.[0]
    return type &&
      `{ readonly get: ${need("effect/Effect")}.Effect<${render(type)}>; readonly changes: ${
        need("effect/Stream")
      }.Stream<${render(type)}> }`
  }],
  ["effect/Subscribable.make", call(([view], { render }) => view && render(view))]
]
