/** The package's `module` field names a file it does not have; its typings speak of the same exports. */
declare module "@xterm/headless/lib-headless/xterm-headless.mjs" {
  export { Terminal } from "@xterm/headless";
}
