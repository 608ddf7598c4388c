import * as Scheduler from "effect/Scheduler"

const watching = (onStep: () => void): Scheduler.Scheduler => {
  const own = new Scheduler.MixedScheduler()
  return {
    executionMode: own.executionMode,
    shouldYield: (fiber) => {
      onStep()
      return own.shouldYield(fiber)
    },
    makeDispatcher: () => {
      const dispatcher = own.makeDispatcher()
      return {
        flush: () => dispatcher.flush(),
        scheduleTask: (task, priority) => {
          onStep()
          dispatcher.scheduleTask(task, priority)
        }
      }
    }
  }
}
