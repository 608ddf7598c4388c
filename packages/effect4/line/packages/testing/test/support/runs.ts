/** How often a property runs: of its whole number a fifth, but at least 5. */
export const runs = (whole: number): number => Math.max(Math.ceil(whole / 5), Math.min(whole, 5))
