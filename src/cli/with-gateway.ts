/** One question to the running gateway: connect, ask, hang up. */
import { type AddressFlags, findGateway, GatewayClient } from "./client.ts";
import type { Cli } from "./io.ts";

export async function withGateway<T>(
  cli: Cli,
  flags: AddressFlags,
  work: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const client = new GatewayClient({ address: await findGateway(cli, flags), kind: "cli", reconnect: false });
  try {
    await client.start();
    return await work(client);
  } finally {
    client.stop();
  }
}
