import Stripe from "stripe"
import type { Client } from "../Client.js"
import { batches } from "../Client.js"

export const stripe: Client = {
  open: async (origin) => {
    const { hostname, port } = new URL(origin)
    const client = new Stripe("sk_test_loopback", {
      host: hostname,
      port: Number(port),
      protocol: "http",
      telemetry: false
    })
    return batches(client.customers.list({ limit: 100 }), ({ id, name }) => [name ?? id])
  },
  isOwnError: (error) => error instanceof Stripe.errors.StripeError
}
