import ts from "typescript"

/** A module of Effect 3: each of its members in use, and what becomes of it on 4. */
interface Module {
  /** Where it is on 4, if elsewhere. */
  readonly module?: string
  /** These keep name and meaning; those of a value that the module makes have a `#` before them. */
  readonly same?: string
  /** Other names for the same meaning; with a slash, the name of a member of another module. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Written in another form, by a rule in `rules/`. */
  readonly rewritten?: string
}

/**
 * Every member of Effect 3 in use. What is not here stops the emission: whoever uses a new member looks up what Effect 4
 * makes of it first.
 */
const table: Readonly<Record<string, Module>> = {
  "@effect/platform-node/NodeFileSystem": { same: "layer" },
  "@effect/platform/Cookies": { module: "effect/http/Cookies", same: "Cookies fromSetCookie" },
  "@effect/platform/Error": {
    module: "effect/PlatformError",
    same: "PlatformError BadArgument#message",
    rewritten: "SystemError"
  },
  "@effect/platform/FetchHttpClient": { module: "effect/http/FetchHttpClient", same: "layer" },
  "@effect/platform/FileSystem": {
    module: "effect/FileSystem",
    same: `File FileSystem File#sync File#writeAll FileSystem#chmod FileSystem#exists FileSystem#makeDirectory
      FileSystem#makeTempDirectoryScoped FileSystem#open FileSystem#readDirectory FileSystem#readFileString FileSystem#remove FileSystem#rename
      FileSystem#stream OpenFlag #Info File#stat FileSystem#link FileSystem#readFile FileSystem#stat
      FileSystem#utimes FileSystem#writeFileString Info#mode Info#mtime Info#size Info#type Info#uid`,
    renamed: { Size: "effect/ByteSize.bytes", MiB: "effect/ByteSize.mebibytes" }
  },
  "@effect/platform/Headers": {
    module: "effect/http/Headers",
    same: "Headers merge set setAll",
    renamed: { unsafeFromRecord: "fromRecordUnsafe" },
    rewritten: "remove"
  },
  "@effect/platform/HttpApp": { module: "effect/http/HttpEffect", rewritten: "Default" },
  "@effect/platform/HttpBody": {
    module: "effect/http/HttpBody",
    same: "HttpBody empty text uint8Array #Proto Proto#_tag Proto#contentType Uint8Array#contentLength",
    rewritten: "raw stream"
  },
  "@effect/platform/HttpClient": {
    module: "effect/http/HttpClient",
    same: "HttpClient mapRequestEffect withScope With#execute make transformResponse",
    rewritten: "withTracerDisabledWhen"
  },
  "@effect/platform/HttpClientError": {
    module: "effect/http/HttpClientError",
    same: "HttpClientError",
    rewritten: "RequestError ResponseError"
  },
  "@effect/platform/HttpClientRequest": {
    module: "effect/http/HttpClientRequest",
    same:
      `HttpClientRequest bearerToken bodyText get make post prependUrl put setBody setHeaders HttpClientRequest#headers
      HttpClientRequest#method HttpClientRequest#url toUrl`,
    renamed: { bodyUnsafeJson: "bodyJsonUnsafe" }
  },
  "@effect/platform/HttpClientResponse": {
    module: "effect/http/HttpClientResponse",
    same: "HttpClientResponse HttpClientResponse#request HttpClientResponse#status TypeId"
  },
  "@effect/platform/HttpIncomingMessage": {
    module: "effect/http/HttpIncomingMessage",
    same: "HttpIncomingMessage#headers HttpIncomingMessage#stream HttpIncomingMessage#text TypeId",
    rewritten: "withMaxBodySize"
  },
  "@effect/platform/HttpMethod": { module: "effect/http/HttpMethod", same: "HttpMethod" },
  "@effect/platform/HttpMiddleware": { module: "effect/http/HttpMiddleware", same: "cors" },
  "@effect/platform/HttpRouter": { module: "effect/http/HttpRouter", same: "PathInput" },
  "@effect/platform/HttpServer": {
    module: "effect/http/HttpServer",
    same: "HttpServer HttpServer#address HttpServer#serve"
  },
  "@effect/platform/HttpServerError": { module: "effect/http/HttpServerError" },
  "@effect/platform/HttpServerRequest": {
    module: "effect/http/HttpServerRequest",
    same: `HttpServerRequest fromWeb HttpServerRequest#cookies HttpServerRequest#method HttpServerRequest#modify
      HttpServerRequest#multipart HttpServerRequest#multipartStream HttpServerRequest#originalUrl HttpServerRequest#source
      HttpServerRequest#upgrade HttpServerRequest#url`
  },
  "@effect/platform/HttpServerResponse": {
    module: "effect/http/HttpServerResponse",
    same: `HttpServerResponse empty redirect setHeader setHeaders setStatus stream text HttpServerResponse#body
      HttpServerResponse#cookies HttpServerResponse#headers HttpServerResponse#status`,
    renamed: { unsafeJson: "jsonUnsafe" },
    rewritten: "setBody"
  },
  "@effect/platform/HttpTraceContext": { module: "effect/http/HttpTraceContext", same: "toHeaders" },
  "@effect/platform/KeyValueStore": {
    module: "effect/persistence/KeyValueStore",
    same: "KeyValueStore layerMemory KeyValueStore#remove KeyValueStore#set",
    rewritten: "KeyValueStore#get"
  },
  "@effect/platform/Path": { module: "effect/Path", same: "Path Path#dirname Path#join" },
  "@effect/sql/Migrator": { module: "effect/sql/Migrator", same: "fromRecord make", rewritten: "MigrationError" },
  "@effect/sql/SqlClient": {
    module: "effect/sql/SqlClient",
    same: "SqlClient SqlClient#withTransaction SqlClient#withoutTransforms"
  },
  "@effect/sql/SqlError": { module: "effect/sql/SqlError", same: "SqlError" },
  "@effect/sql/Statement": {
    module: "effect/sql/Statement",
    same: `Fragment Constructor#csv Constructor#in Constructor#insert Constructor#literal Constructor#onDialectOrElse
      Constructor#or Constructor#unsafe`
  },
  "@effect/platform/UrlParams": { module: "effect/http/UrlParams", same: "UrlParams fromInput" },
  "effect/Array": {
    same:
      `NonEmptyReadonlyArray append chunksOf dedupe empty ensure filter findFirst flatMap get getSomes groupBy lastNonEmpty
      makeBy map max range replicate reverse sort zip scan`,
    renamed: { isNonEmptyReadonlyArray: "isReadonlyArrayNonEmpty", unsafeGet: "getUnsafe" },
    rewritten: "filterMap partition"
  },
  "effect/Cause": {
    same: "Cause isCause map fail squash",
    renamed: {
      failureOption: "findErrorOption",
      isInterruptedOnly: "hasInterruptsOnly",
      isInterrupted: "hasInterrupts",
      NoSuchElementException: "NoSuchElementError"
    },
    rewritten: "failureOrCause keepDefects"
  },
  "effect/Chunk": { same: "Chunk append appendAll drop empty fromIterable map of range reduce take Chunk#length" },
  "effect/Clock": {
    same: "Clock currentTimeMillis Clock#currentTimeNanos",
    renamed: {
      "Clock#unsafeCurrentTimeMillis": "currentTimeMillisUnsafe",
      // what is measured by nanoseconds is how long something took: on 4, `currentTimeNanosUnsafe` follows the wall clock
      "Clock#unsafeCurrentTimeNanos": "monotonicTimeNanosUnsafe"
    }
  },
  "effect/Config": {
    same: "Config map option succeed",
    renamed: { nonEmptyString: "NonEmptyString", redacted: "Redacted", string: "String" }
  },
  "effect/ConfigError": { module: "effect/Config", same: "ConfigError" },
  "effect/Console": { same: "Console consoleWith", rewritten: "setConsole" },
  "effect/Context": { same: "Context get merge", rewritten: "Tag Reference" },
  "effect/Data": { same: "TaggedEnum TaggedError taggedEnum #_tag" },
  "effect/DateTime": {
    same: "DateTime Equivalence formatIso isDateTime make",
    renamed: { unsafeFromDate: "fromDateUnsafe", unsafeMake: "makeUnsafe" }
  },
  "effect/Deferred": {
    same: "Deferred await make succeed done",
    renamed: { unsafeDone: "doneUnsafe" },
    rewritten: "unsafeMake"
  },
  "effect/Duration": {
    same: "Duration format infinity isDuration isFinite millis min nanos seconds toMillis toSeconds zero",
    renamed: { DurationInput: "Input", decode: "fromInputUnsafe", lessThanOrEqualTo: "isLessThanOrEqualTo" }
  },
  "effect/Effect": {
    same: `Effect acquireRelease addFinalizer all annotateCurrentSpan as asSome asVoid clockWith context currentSpan
      delay ensuring exit fail failCause failSync filterOrFail firstSuccessOf flatMap flatten forEach forever gen
      interruptible isSuccess logDebug logError logInfo logWarning map mapBoth mapError match matchCauseEffect
      matchEffect never onError onExit onInterrupt orElseSucceed promise provide provideService raceFirst reduce
      repeat scoped scopedWith serviceOption sleep succeed succeedNone succeedSome suspend sync tap tapError
      tapErrorTag timeout timeoutOption tracer try uninterruptible uninterruptibleMask void zip zipWith scope
      Latch#await Latch#close Latch#open Semaphore#withPermits acquireUseRelease cached cachedInvalidateWithTTL cachedWithTTL
      catchTag
      filter ignore matchCause option retry schedule tryPromise`,
    renamed: {
      async: "callback",
      catchAll: "catch",
      catchAllCause: "catchCause",
      catchAllDefect: "catchDefect",
      clock: "effect/Clock.Clock",
      contextWithEffect: "contextWith",
      either: "result",
      intoDeferred: "effect/Deferred.into",
      makeLatch: "effect/Latch.make",
      makeSemaphore: "effect/Semaphore.make",
      mapInputContext: "updateContext",
      metricLabels: "effect/Metric.CurrentMetricAttributes",
      runtime: "context",
      Semaphore: "effect/Semaphore.Semaphore",
      tapErrorCause: "tapCause",
      unsafeMakeSemaphore: "effect/Semaphore.makeUnsafe",
      whenEffect: "when",
      "Latch#unsafeOpen": "openUnsafe"
    },
    rewritten: `catchIf Semaphore#release Semaphore#take dieMessage disconnect forkDaemon forkIn forkScoped ignoreLogged
      once runFork timeoutFail transposeMapOption withScheduler withSpan zipLeft zipRight fork tapDefect unlessEffect`
  },
  "effect/Either": {
    module: "effect/Result",
    same: "all flatMap getOrElse getOrUndefined map orElse try void gen fromOption Left#_tag",
    renamed: {
      Either: "Result",
      filterOrLeft: "filterOrFail",
      fromNullable: "fromNullishOr",
      isLeft: "isFailure",
      isRight: "isSuccess",
      left: "fail",
      mapLeft: "mapError",
      right: "succeed",
      "Left#left": "failure",
      "Right#right": "success"
    },
    rewritten: "match zipWith"
  },
  "effect/Encoding": {
    renamed: {
      decodeBase64: "effect/encoding/Base64.decode",
      decodeBase64UrlString: "effect/encoding/Base64Url.decodeString",
      encodeBase64: "effect/encoding/Base64.encode",
      encodeBase64Url: "effect/encoding/Base64Url.encode",
      encodeHex: "effect/encoding/Hex.encode"
    }
  },
  "effect/Equal": { same: "Equal equals symbol" },
  "effect/Exit": {
    same: "Exit fail failCause isFailure isSuccess match succeed void Failure#cause Success#_tag Success#value"
  },
  "effect/Fiber": {
    same: "interrupt join RuntimeFiber#addObserver",
    renamed: { RuntimeFiber: "Fiber" },
    rewritten: "RuntimeFiber#unsafePoll RuntimeFiber#unsafeInterruptAsFork interruptFork"
  },
  "effect/FiberSet": { same: "awaitEmpty make", rewritten: "run" },
  "effect/Function": { same: "LazyArg constTrue constVoid constant dual flow identity" },
  "effect/Hash": { same: "string symbol", rewritten: "cached" },
  "effect/HashMap": { same: "HashMap empty has modifyAt reduce" },
  "effect/Inspectable": { same: "Class NodeInspectSymbol", renamed: { format: "effect/Formatter.format" } },
  "effect/Iterable": { same: "head" },
  "effect/Layer": {
    same: "Layer build effect effectContext succeed suspend sync",
    renamed: { scoped: "effect", scopedDiscard: "effectDiscard", toRuntime: "build", unwrapEffect: "unwrap" },
    rewritten: "setRandom setTracer"
  },
  "effect/List": {
    module: "effect/Chunk",
    same: "appendAll empty fromIterable prepend prependAll reduce",
    renamed: { List: "Chunk" }
  },
  "effect/Logger": {
    same: "Logger Logger#log Options#logLevel",
    renamed: { logfmtLogger: "formatLogFmt", structuredLogger: "formatStructured" },
    rewritten: "minimumLogLevel"
  },
  "effect/LogLevel": { rewritten: "All#label" },
  "effect/Metric": {
    same: "counter gauge snapshot update",
    renamed: {
      "Metric#unsafeUpdate": "updateUnsafe",
      set: "update",
      trackDurationWith: "effect/Effect.trackDuration"
    },
    rewritten: "increment incrementBy tagged histogram timerWithBoundaries"
  },
  "effect/MetricBoundaries": {
    renamed: { fromIterable: "effect/Metric.boundariesFromIterable" },
    rewritten: "exponential MetricBoundaries#values"
  },
  "effect/Option": {
    same: `as Option all contains exists filter flatMap flatten getOrElse getOrThrow getOrUndefined isNone isSome
      liftPredicate liftThrowable map match none orElse some zipWith Some#value firstSomeOf`,
    renamed: { flatMapNullable: "flatMapNullishOr", fromNullable: "fromNullishOr", getRight: "getSuccess" }
  },
  "effect/Order": { same: "combine mapInput", renamed: { number: "Number", reverse: "flip", string: "String" } },
  // tags have other names on 4: the type-check refuses a comparison with one of 3
  "effect/ParseResult": {
    same: "#issue ArrayFormatterIssue#message ArrayFormatterIssue#path Type#_tag",
    renamed: { ParseError: "effect/Schema.SchemaError", ParseIssue: "effect/SchemaIssue.Issue" },
    rewritten: "fail succeed"
  },
  "effect/Pipeable": { same: "Pipeable#pipe" },
  "effect/Predicate": {
    same: "hasProperty isFunction isNumber isString isTagged",
    renamed: { isReadonlyRecord: "isReadonlyObject", isRecord: "isObject", isObject: "isObjectKeyword" }
  },
  "effect/Queue": { same: "bounded offer shutdown take unbounded" },
  // on 4, `nextIntBetween` can give its upper limit
  "effect/Random": { same: "next", rewritten: "nextIntBetween" },
  "effect/Record": { same: "filter map toEntries get", rewritten: "filterMap" },
  "effect/Redacted": { same: "Redacted isRedacted make value" },
  "effect/Ref": { same: "Ref get make set" },
  "effect/Runtime": { rewritten: "runFork" },
  "effect/Schedule": { same: "Schedule exponential forever jittered spaced", rewritten: "union upTo" },
  "effect/Schema": {
    same: `Array Boolean Class DurationFromMillis Int NonEmptyArray NonEmptyString Null NullOr Number NumberFromString
      OptionFromNullOr String TaggedClass TaggedError TaggedStruct Unknown tag decodeUnknownOption encodeOption
      decodeUnknownSync is make optional #_tag #Fields Schema#Type Literal#literals Schema#ast Struct#fields
      Struct#make Union#members transformOrFail#to decodeOption suspend #Type`,
    renamed: {
      // on 4, `Schema.Date` is the Schema of a Date
      Date: "DateFromString",
      ValidDateFromSelf: "Date",
      DurationFromSelf: "Duration",
      Fields: "Struct.Fields",
      JsonNumber: "Finite",
      decode: "decodeEffect",
      decodeEither: "decodeResult",
      decodeUnknown: "decodeUnknownEffect",
      decodeUnknownEither: "decodeUnknownResult",
      encode: "encodeEffect",
      encodeEither: "encodeResult",
      encodeUnknownEither: "encodeUnknownResult",
      parseJson: "fromJsonString"
    },
    rewritten:
      `TaggedErrorClass#_tag List Literal NonNegativeInt Record Schema Union Defect between declare filter finite
      instanceOf maxItems maxLength minItems nonNegative optionalWith pattern positive propertySignature
      startsWith transform transformOrFail BooleanFromString withConstructorDefault withDefaults Annotable#annotations
      Struct Struct#annotations transform#annotations Tuple minLength`
  },
  "effect/Scope": {
    same: "Scope addFinalizer close",
    renamed: { CloseableScope: "Closeable", extend: "provide" },
    rewritten: "fork"
  },
  "effect/Stream": {
    same:
      `Stream changes concat drain empty fail filter flatten fromAsyncIterable fromEffect fromIterable grouped make map
      mapEffect mapError runForEach runForEachWhile runHead suspend tap tapError unwrap toAsyncIterable`,
    renamed: {
      catchAll: "catch",
      tapErrorCause: "tapCause",
      unwrapScoped: "unwrap",
      fromChunk: "fromIterable",
      mapInputContext: "updateContext"
    },
    rewritten: "asyncPush flatMap fromReadableStream runFold runFoldEffect repeatEffectOption timeoutFail"
  },
  "effect/StreamEmit": { rewritten: "EmitOpsPush#single" },
  "effect/Struct": { same: "keys", renamed: { entries: "effect/Record.toEntries" } },
  "effect/Subscribable": { rewritten: "Subscribable make" },
  "effect/Tracer": {
    same: "Span Span#addLinks Span#attribute Span#end Span#event SpanLink SpanLink#attributes Tracer"
  }
}

/** The same for what only tests and examples use. */
const testTable: Readonly<Record<string, Module>> = {
  "@effect/sql-pg/PgClient": { same: "PgClient layer" },
  "@effect/platform/FetchHttpClient": { same: "Fetch RequestInit" },
  "@effect/platform/HttpServer": { same: "Address serve" },
  "@effect/platform-node/NodeHttpServer": { same: "layer make makeHandler" },
  "@effect/platform-node/NodeKeyValueStore": { rewritten: "layerFileSystem" },
  "@effect/platform-node/NodeRuntime": { same: "runMain" },
  "@effect/platform-node/NodeContext": { renamed: { layer: "@effect/platform-node/NodeServices.layer" } },
  "@effect/platform-node/NodeHttpClient": { same: "layerUndici" },
  "@effect/platform/Cookies": { same: "Cookies#cookies empty" },
  "@effect/platform/Error": { renamed: { SystemErrorReason: "SystemErrorTag" } },
  "@effect/platform/FileSystem": {
    same: "FileTypeId makeNoop OpenFileOptions#flag FileSystem#makeTempFileScoped",
    rewritten: "FileDescriptor"
  },
  "@effect/platform/Headers": { same: "fromInput" },
  "@effect/platform/HttpBody": { same: "Empty#_tag Proto#contentLength Raw#body Stream#stream Uint8Array#body" },
  "@effect/platform/HttpClient": { same: "makeWith mapRequest tapRequest transform get" },
  "@effect/platform/HttpClientError": { rewritten: "#_tag #reason" },
  "@effect/platform/HttpClientRequest": {
    same: "setHeader setUrl HttpClientRequest#body HttpClientRequest#urlParams bodyUint8Array head",
    renamed: { del: "delete" }
  },
  "@effect/platform/HttpClientResponse": { same: "fromWeb HttpClientResponse#cookies HttpClientResponse#formData" },
  "@effect/platform/HttpIncomingMessage": {
    same: "HttpIncomingMessage#arrayBuffer HttpIncomingMessage#json HttpIncomingMessage#urlParamsBody"
  },
  "@effect/platform/HttpServerResponse": { same: "toWeb" },
  "@effect/platform/KeyValueStore": {
    same: `KeyValueStore#clear KeyValueStore#has KeyValueStore#isEmpty KeyValueStore#size SchemaStore#get
      SchemaStore#has SchemaStore#remove SchemaStore#set`,
    rewritten: "KeyValueStore#forSchema KeyValueStore#getUint8Array"
  },
  "@effect/vitest/index": {
    same: `Methods#live MethodsNonLive#effect MethodsNonLive#prop MethodsNonLive#scoped Tester#each Tester#prop
      Methods#scopedLive Tester#skipIf`
  },
  // what has `line/` before it is in `line/support`
  "effect/Arbitrary": { renamed: { make: "line/SchemaValues.make" } },
  "effect/Array": { same: "dedupeAdjacent" },
  "effect/Cause": {
    same: "die",
    renamed: { TimeoutException: "TimeoutError" },
    rewritten: "defects dieOption pretty"
  },
  "effect/Chunk": { same: "make makeBy toReadonlyArray size", renamed: { unsafeHead: "headUnsafe" } },
  "effect/Clock": { same: "Clock#currentTimeMillis Clock#sleep" },
  "effect/Config": { renamed: { boolean: "Boolean" } },
  "effect/ConfigProvider": { rewritten: "fromMap" },
  "effect/Console": { same: "assert count error log timeLog withTime" },
  "effect/Context": { same: "add make Tag#of" },
  "effect/DateTime": { renamed: { unsafeMakeZoned: "makeZonedUnsafe" } },
  "effect/Deferred": { same: "isDone fail" },
  "effect/Duration": { same: "hours minutes sum toHours days", renamed: { lessThan: "isLessThan" } },
  "effect/Effect": {
    same: `catchTags die flip interrupt isEffect log orDie replicateEffect runPromise runSync timed fiberId isFailure
      withTracer annotateLogs logFatal logTrace provideServiceEffect race sandbox updateService withLogSpan`,
    renamed: {
      "#Context": "effect/Effect.Services",
      "#Error": "effect/Effect.Error",
      "#Success": "effect/Effect.Success",
      fromNullable: "fromNullishOr"
    },
    rewritten: "forkAll repeatN timeoutTo when withClock withConfigProvider withRandom withTracerEnabled yieldNow"
  },
  "effect/Either": { same: "flip getOrThrow getOrNull" },
  "effect/Exit": {
    same: "map die interrupt",
    renamed: { causeOption: "getCause", isInterrupted: "hasInterrupts" },
    rewritten: "getOrElse"
  },
  "effect/FastCheck": {
    module: "fast-check",
    same:
      `Arbitrary anything array assert bigInt boolean check configureGlobal constant constantFrom date dictionary double
      infiniteStream integer json jsonValue maxSafeNat nat oneof option pre property record sample
      shuffledSubarray string stringMatching stringify subarray tuple uint8Array uniqueArray webUrl`
  },
  "effect/Fiber": { same: "Fiber await awaitAll interruptAll joinAll", rewritten: "Fiber#poll poll never" },
  "effect/Hash": { same: "hash" },
  "effect/Inspectable": { same: "Inspectable#toString", renamed: { toJSON: "toJson" }, rewritten: "toStringUnknown" },
  "effect/Layer": {
    same: "empty fresh launch merge mergeAll orDie provide provideMerge",
    renamed: {
      "#Success": "effect/Layer.Success",
      setConfigProvider: "effect/ConfigProvider.layer",
      unwrapScoped: "unwrap"
    },
    rewritten: "fail map"
  },
  "effect/Logger": {
    same: "defaultLogger make Options#cause Options#message",
    rewritten: "replace withMinimumLogLevel"
  },
  "effect/LogLevel": { rewritten: "All All#_tag Debug None" },
  "effect/Match": { same: "tagsExhaustive type" },
  "effect/Metric": { same: "value" },
  "effect/MetricState": { same: "Counter#count" },
  "effect/Option": { same: "getOrNull toArray None#_tag" },
  "effect/Readable": { same: "Readable#get" },
  "effect/ParseResult": { same: "ParseError#message" },
  "effect/Pretty": { renamed: { make: "effect/Schema.toFormatter" } },
  "effect/Random": { renamed: { fixed: "line/SeededRandom.fixed", make: "line/SeededRandom.make" } },
  "effect/Ref": { same: "update updateAndGet" },
  "effect/Runtime": { renamed: { runPromise: "effect/Effect.runPromiseWith" } },
  "effect/Schedule": { same: "recurs", rewritten: "intersect" },
  "effect/Schema": {
    same: "decodeSync encodeSync encodeUnknownSync isSchema",
    renamed: {
      "#AnyNoContext": "effect/Schema.Top",
      BigIntFromSelf: "BigInt",
      DateFromSelf: "Date",
      Redacted: "RedactedFromValue",
      equivalence: "toEquivalence"
    },
    rewritten: "#Context Config"
  },
  "effect/Scope": { same: "make" },
  "effect/Stream": {
    same:
      `changesWith decodeText encodeText ensuring filterEffect iterate mkString never range rechunk runCount runDrain
      schedule succeed take takeUntil die`,
    renamed: { repeatEffect: "fromEffectRepeat" },
    rewritten: "acquireRelease dieMessage mapConcat repeatValue runCollect"
  },
  "effect/Subscribable": { same: "Subscribable#changes" },
  "effect/TestClock": { module: "effect/testing/TestClock", same: "adjust setTime" },
  "effect/Tracer": { same: "Span#attributes Span#spanId Span#traceId make" },
  "effect/Types": { same: "Equals Simplify" }
}

/** What becomes of one member. */
export type Row =
  | { readonly kind: "same" | "rewritten" }
  | { readonly kind: "renamed"; readonly name: string }
  | { readonly kind: "elsewhere"; readonly module: string; readonly name: string }

const listed = (names: string | undefined): ReadonlyArray<string> => names?.split(/\s+/) ?? []

const renamedRow = (name: string): Row => {
  const dot = name.lastIndexOf(".")
  return name.includes("/")
    ? { kind: "elsewhere", module: name.slice(0, dot), name: name.slice(dot + 1) }
    : { kind: "renamed", name }
}

const rowsOf = ([module, own]: readonly [string, Module]): ReadonlyArray<readonly [string, Row]> => [
  ...listed(own.same).map((name) => [`${module}.${name}`, { kind: "same" }] as const),
  ...listed(own.rewritten).map((name) => [`${module}.${name}`, { kind: "rewritten" }] as const),
  ...Object.entries(own.renamed ?? {}).map(([name, to]) => [`${module}.${name}`, renamedRow(to)] as const)
]

/** By member of Effect 3. */
export const members: ReadonlyMap<string, Row> = new Map(
  [...Object.entries(table), ...Object.entries(testTable)].flatMap(rowsOf)
)

/** The modules that are elsewhere on 4. */
export const moduleNames: ReadonlyMap<string, string> = new Map(
  [...Object.entries(table), ...Object.entries(testTable)].flatMap(([name, { module }]) =>
    module === undefined ? [] : [[name, module] as const]
  )
)

const barrels = new Set(["effect", "@effect/platform"])

/** Whether all modules of Effect can be imported from here by their names. */
export const isBarrel = (module: string): boolean => barrels.has(module)

/** Where what a file imports by name is on 4, and how it is called there. */
export const rowOfImport = (module: string, name: string): { readonly module: string; readonly name: string } => {
  const row = members.get(`${module}.${name}`)
  return { module: moduleNames.get(module) ?? module, name: row?.kind === "renamed" ? row.name : name }
}

/** The member that an identifier stands for which was imported by its own name, such as `constVoid`. */
export const importOf = (checker: ts.TypeChecker, node: ts.Identifier): string | undefined => {
  const symbol = checker.getSymbolAtLocation(node)
  const declaration = symbol?.declarations?.[0]
  if (declaration === undefined || !ts.isImportSpecifier(declaration)) return undefined
  const { moduleSpecifier } = declaration.parent.parent.parent
  if (!ts.isStringLiteral(moduleSpecifier) || barrels.has(moduleSpecifier.text)) return undefined
  return /^(?:effect|@effect\/[^/]+)\//.test(moduleSpecifier.text)
    ? `${moduleSpecifier.text}.${(declaration.propertyName ?? declaration.name).text}`
    : undefined
}
