/** What helps if a network's page stands in for a response. */
export const signIn = "A page came instead: sign in to the network, or check the proxy, then try again."
