/** `npm run demo` */
import { invitation, startDemo } from "./demo.ts";

// Before the start, so that Ctrl-C during it still removes what was made.
const ended = new Promise<void>((resolve) => {
  process.once("SIGINT", resolve);
  process.once("SIGTERM", resolve);
});
process.env.OPENCLAW_PLATFORM_SPECS = "none";
process.stdout.write("Building what changed, and starting…\n\n");
const demo = await startDemo();
process.stdout.write(`${invitation(demo)}\n`);
await ended;
await demo.stop();
