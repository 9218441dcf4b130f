import { loginPath } from "../../src/core/exec/login-path.ts";

// As the gateway does: the signal is handled, and the process ends by itself.
process.once("SIGUSR2", () => process.exit(0));
setInterval(() => {}, 1000);
/** Asks a login shell that never answers, and ends while it waits. */
const [home = "", shell = ""] = process.argv.slice(2);
void loginPath({ env: { PATH: process.env.PATH }, home, shell, onWarning: () => {} });
