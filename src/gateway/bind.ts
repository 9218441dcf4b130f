/** From `gateway.bind` to an address. */

import { BlockList } from "node:net";
import { networkInterfaces } from "node:os";
import type { Config } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";

const LOOPBACK = "127.0.0.1";

/** Tailscale gives its machines addresses from this range (RFC 6598). */
const TAILNET = new BlockList();
TAILNET.addSubnet("100.64.0.0", 10, "ipv4");

/** Rejects with `bind-refused` when this machine has no such address. */
export function bindAddress(
  gateway: { readonly bind: Config["gateway"]["bind"]; readonly host?: string | undefined },
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string {
  switch (gateway.bind) {
    case "loopback":
    case "auto":
      return LOOPBACK;
    case "lan":
      return "0.0.0.0";
    case "tailnet": {
      const addresses = Object.values(interfaces).flatMap((list) => list ?? []);
      const found = addresses.find(({ family, address }) => family === "IPv4" && TAILNET.check(address, "ipv4"));
      if (found) return found.address;
      throw new ExecError(
        "bind-refused",
        'This machine has no Tailscale address (100.64.0.0/10). Start Tailscale, or set gateway.bind to "loopback".',
      );
    }
    case "custom":
      return gateway.host ?? LOOPBACK;
  }
}
