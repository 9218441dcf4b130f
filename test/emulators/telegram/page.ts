/** Telegram's look for the shared page, and messages as HTML from text and entities. */
import { escapeHtml, type PageTheme } from "../shared/page.ts";
import type { Entity } from "./entities.ts";

export const TELEGRAM_THEME: PageTheme = {
  title: "Telegram (emulated)",
  className: "telegram",
  css: `
.telegram nav{background:#fff;color:#000;border-right:1px solid #dfe1e5}.telegram nav li[aria-current] button{background:#3390ec;color:#fff}
.telegram main{background:#d7e3d3}.telegram #messages{display:flex;flex-direction:column;gap:6px}
.telegram #messages li{background:#fff;border-radius:12px 12px 12px 4px;padding:7px 12px;max-width:560px;box-shadow:0 1px 2px #0002;align-self:flex-start}
.telegram #messages li.own{background:#eeffde;border-radius:12px 12px 4px 12px;align-self:flex-end}.telegram .own .who{color:#3a9a3a}
.telegram .body p{margin:4px 0}.telegram #composer{background:#fff;border:0}.telegram #composer button{background:#3390ec}
.telegram .who{color:#168acd;font-size:14px}.telegram .body{white-space:pre-wrap}
.telegram .row{gap:4px;margin:4px -6px 0}.telegram .row button{flex:1;background:#0f2d1b80;border:0;color:#fff;border-radius:6px;padding:7px}
.telegram .row button.danger,.telegram .row button.success,.telegram .row button.primary{background:#0f2d1b80;border:0}
.telegram blockquote{border-left:3px solid #3390ec;margin:0 0 4px;padding-left:8px;color:#555}
@media (prefers-color-scheme:dark){.telegram,.telegram main{background:#0e1621;color:#f5f5f5}.telegram nav,.telegram .body p{margin:4px 0}.telegram #composer{background:#17212b;color:#f5f5f5;border-color:#0e1621}
.telegram #messages li{background:#182533;box-shadow:none}.telegram #messages li.own{background:#2b5278}.telegram .own .who{color:#a3cdf5}.telegram .who{color:#6ab3f3}.telegram .who small,.telegram .only{color:#7d8e9e}
.telegram .app{background:#2b3948;color:#9fb3c5}.telegram .body pre,.telegram .body code{background:#0e1621;border-color:#22303f;color:#cfe3f7}.telegram .body a{color:#6ab3f3}.telegram blockquote{color:#a9b8c6}
.telegram #composer input,.telegram nav select{background:#0e1621;color:#f5f5f5;border-color:#22303f}.telegram .row button,.telegram .row button.danger,.telegram .row button.success,.telegram .row button.primary{background:#ffffff26}}`,
};

const TAGS: Readonly<Record<string, string>> = {
  bold: "b",
  italic: "i",
  underline: "u",
  strikethrough: "s",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
};

/** Entities nest properly on the platform, so opening and closing in order is enough. */
export function entitiesToHtml(text: string, entities: readonly Entity[]): string {
  const events: { at: number; order: number; tag: string }[] = [];
  for (const one of entities) {
    const end = one.offset + one.length;
    const tag = TAGS[one.type];
    if (tag) {
      events.push(
        { at: one.offset, order: 1e6 - one.length, tag: `<${tag}>` },
        { at: end, order: -1e6 + one.length, tag: `</${tag}>` },
      );
    } else if (one.type === "text_link") {
      const open = `<a href="${escapeHtml(one.url ?? "")}" rel="noreferrer">`;
      events.push(
        { at: one.offset, order: 1e6 - one.length, tag: open },
        { at: end, order: -1e6 + one.length, tag: "</a>" },
      );
    }
  }
  events.sort((a, b) => a.at - b.at || a.order - b.order);
  let html = "";
  let at = 0;
  for (const event of events) {
    html += escapeHtml(text.slice(at, event.at)) + event.tag;
    at = event.at;
  }
  // A block ends its line by itself.
  return (html + escapeHtml(text.slice(at))).replaceAll("</pre>\n", "</pre>");
}
