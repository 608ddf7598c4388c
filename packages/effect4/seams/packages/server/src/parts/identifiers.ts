const randomOf = (nextDouble: () => number): Random.Random => ({
  nextDoubleUnsafe: nextDouble,
  nextIntUnsafe: () =>
    Number.MIN_SAFE_INTEGER + Math.floor(nextDouble() * (Number.MAX_SAFE_INTEGER - Number.MIN_SAFE_INTEGER))
})
