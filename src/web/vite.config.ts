import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * `vite build` makes the page that the gateway serves; `vite build --mode gallery --outDir <folder>` makes the card
 * gallery that the visual checks look at, and never lands in the product.
 */
export default defineConfig(({ mode }) => ({
  root: here("."),
  base: "/",
  oxc: { jsx: { runtime: "automatic" as const, importSource: "preact" } },
  build: {
    outDir: here("../../dist/web"),
    emptyOutDir: true,
    target: "es2022",
    // The gateway's content security policy allows files of its own origin only: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: here(mode === "gallery" ? "gallery.html" : "index.html") },
  },
}));
