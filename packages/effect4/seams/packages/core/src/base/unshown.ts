export const hidden = (): string => unshown()
