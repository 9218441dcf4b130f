import type { PageTheme } from "../shared/page.ts";

export const slackPageTheme: PageTheme = {
  title: "Acme",
  className: "slack",
  css: `
.slack h3{font-size:18px;margin:4px 0}.slack .body footer{color:#616061;font-size:12px;margin:3px 0}.slack .body mark{background:#f2c74466;color:#1264a3;border-radius:3px;padding:0 2px}
.slack .body b{font-weight:700}.slack .file{display:inline-block;border:1px solid #ddd;border-radius:8px;padding:10px 14px;margin:4px 0;background:#fafafa}
.slack .file::before{content:"TXT ";font-size:11px;color:#1264a3;font-weight:700}
@media (prefers-color-scheme:dark){.slack,.slack main{background:#1a1d21;color:#d1d2d3}.slack nav{background:#19171d}.slack .who small,.slack .only,.slack .body footer{color:#9a9b9e}.slack .app{background:#35373b;color:#d1d2d3}
.slack .body pre,.slack .body code,.slack .file{background:#222529;border-color:#3b3d42;color:#d1d2d3}.slack .body code{color:#e8912d}.slack .body pre code{color:inherit}.slack .row button{background:#1a1d21;border-color:#565856;color:#d1d2d3}
.slack .row button.primary{background:#007a5a;border-color:#007a5a;color:#fff}.slack .row button.danger{background:#e01e5a;border-color:#e01e5a;color:#fff}.slack #composer{border-color:#35373b}.slack #composer input,.slack nav select{background:#222529;border-color:#565856;color:#d1d2d3}
.slack .menu summary,.slack .menu div{background:#1a1d21;border-color:#565856;color:#d1d2d3}.slack .menu div button{background:none;border:0;color:inherit}.slack dialog{background:#1a1d21;color:#d1d2d3;border-color:#565856}.slack dialog textarea,.slack dialog input{background:#222529;color:#d1d2d3;border-color:#565856}}`,
};
