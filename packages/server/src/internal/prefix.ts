/** What stands before every path, with a slash before it and none behind it; empty if nothing does. @internal */
export const prefixOf = (basePath = ""): "" | `/${string}` => {
  const path = basePath.replace(/^\/+|\/+$/g, "")
  return path === "" ? "" : `/${path}`
}
