import type { PageTheme } from "../shared/page.ts";

export const slackPageTheme: PageTheme = {
  title: "Acme",
  className: "slack",
  css: `
.slack h3{font-size:18px;margin:4px 0}.slack .body footer{color:#616061;font-size:12px;margin:3px 0}.slack .body mark{background:#f2c74466;color:#1264a3;border-radius:3px;padding:0 2px}
.slack .body b{font-weight:700}.slack .file{display:inline-block;border:1px solid #ddd;border-radius:8px;padding:10px 14px;margin:4px 0;background:#fafafa}
.slack .file::before{content:"TXT ";font-size:11px;color:#1264a3;font-weight:700}`,
};
