/** The path of a request, without its query. @internal */
export const pathOf = (url: string): string => url.split("?")[0] ?? url
