/** A list in React, by TanStack Query: a page more at each click. */
import { Lists, type ServiceApi } from "@stevedore/core"
import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query"
import type { ManagedRuntime } from "effect"

export const projectsOf = (
  runtime: ManagedRuntime.ManagedRuntime<ServiceApi.ServiceApi, unknown>
) =>
  infiniteQueryOptions({
    queryKey: ["projects"],
    initialPageParam: "",
    queryFn: ({ pageParam: cursor, signal }) =>
      runtime.runPromise(Lists.projects.page({ cursor }), { signal }),
    getNextPageParam: (page) => page.nextCursor,
    // the retry policy in force has retried already
    retry: false
  })

export const Projects = (
  { options }: { readonly options: ReturnType<typeof projectsOf> }
) => {
  const { data, fetchNextPage, hasNextPage } = useInfiniteQuery(options)
  const items = data?.pages.flatMap((page) => page.items) ?? []
  return (
    <>
      <ul>{items.map((item) => <li key={item.id}>{item.title}</li>)}</ul>
      {hasNextPage && (
        <button onClick={() => void fetchNextPage()}>More projects</button>
      )}
    </>
  )
}
