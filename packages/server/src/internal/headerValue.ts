/** Whether a text can stand in a header as it is, wherever it goes: spaces and what is visible of ASCII. @internal */
export const isHeaderValue = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
