/** Discord's look for the shared page, and the small part of its Markdown that cards use. */
import { escapeHtml, type PageTheme } from "../shared/page.ts";

export const DISCORD_THEME: PageTheme = {
  title: "Discord (emulated)",
  className: "discord",
  css: `
.discord,.discord main{background:#313338;color:#dbdee1}.discord nav{background:#2b2d31;color:#dbdee1}.discord nav li[aria-current] button{background:#404249}
.discord .who small{color:#949ba4}.discord .app{background:#5865f2;color:#fff}.discord .only{color:#949ba4}
.discord .body pre,.discord .body code{background:#1e1f22;border-color:#1e1f22;color:#dbdee1}.discord .body h2{font-size:19px;margin:2px 0}.discord .body h3{font-size:16px;margin:2px 0}
.discord .body small{color:#949ba4;font-size:12px}.discord .body{white-space:pre-wrap}.discord .body hr{border:0;border-top:1px solid #4e5058}
.discord #messages li[style] .body{border-left:4px solid var(--accent);background:#2b2d31;border-radius:8px;padding:10px 14px;max-width:600px}
.discord .row button{background:#4e5058;border:0;color:#fff;font-weight:500}.discord .row button.primary{background:#5865f2}.discord .row button.success{background:#248046}.discord .row button.danger{background:#da373c}
.discord #composer button{background:#5865f2}.discord nav select{background:#1e1f22;color:#dbdee1;border:0;border-radius:4px;padding:4px}.discord .body b{color:#f2f3f5}
.discord .body .row{margin:8px 0 2px}.discord #composer{border-color:#3f4147}.discord #composer input{background:#383a40;border:0;color:#dbdee1;border-radius:8px}
.discord dialog{background:#313338;color:#dbdee1;border-color:#1e1f22}.discord dialog textarea,.discord dialog input{background:#1e1f22;color:#dbdee1;border:0}`,
};

const FENCE = /```(?:[a-z0-9]+\n)?([\s\S]*?)```/g;

/** Fences first, since nothing inside them is markup. */
export function markdownToHtml(source: string, nameOf: (id: string) => string | undefined): string {
  let html = "";
  let at = 0;
  for (const match of source.matchAll(FENCE)) {
    html += inline(source.slice(at, match.index), nameOf);
    html += `<pre>${escapeHtml((match[1] ?? "").replace(/^\n|\n$/g, ""))}</pre>`;
    at = match.index + match[0].length;
  }
  // A block ends its line by itself.
  return (html + inline(source.slice(at), nameOf)).replaceAll("</pre>\n", "</pre>");
}

/** `R` counts as people do; the other styles are close enough as UTC. */
function shownTime(seconds: number, style: string): string {
  const at = new Date(seconds * 1000);
  if (style === "t") return `<time datetime="${at.toISOString()}">${at.toISOString().slice(11, 16)}</time>`;
  if (style !== "R") return at.toISOString();
  const minutes = Math.round((at.getTime() - Date.now()) / 60_000);
  const text = new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(minutes, "minute");
  return `<time datetime="${at.toISOString()}">${text}</time>`;
}

function inline(source: string, nameOf: (id: string) => string | undefined): string {
  const codes: string[] = [];
  const kept = source.replace(/(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/g, (_all, _ticks, inner: string) => {
    codes.push(`<code>${escapeHtml(inner)}</code>`);
    return `\u0000${codes.length - 1}\u0000`;
  });
  return (
    escapeHtml(kept)
      .replace(/^## (.*)$/gm, "<h2>$1</h2>")
      .replace(/^### (.*)$/gm, "<h3>$1</h3>")
      .replace(/^-# (.*)$/gm, "<small>$1</small>")
      .replace(/\*\*([^*\n]+)\*\*/g, "<b>$1</b>")
      .replace(/(?<!\w)_([^_\n]+)_(?!\w)/g, "<i>$1</i>")
      .replace(/(?:^- .*(?:\n|$))+/gm, (list) => `<ul>${list.replace(/^- (.*)\n?/gm, "<li>$1</li>")}</ul>`)
      .replace(/&lt;t:(\d+):([a-zA-Z])&gt;/g, (_all, seconds: string, style: string) =>
        shownTime(Number(seconds), style),
      )
      .replace(/&lt;@!?(\d+)&gt;/g, (all, id: string) => `<b>@${escapeHtml(nameOf(id) ?? all)}</b>`)
      .replace(/\\([\\`*_~|<>#@:\-[\](){}.!+])/g, "$1")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks set above
      .replace(/\u0000(\d+)\u0000/g, (_all, index: string) => codes[Number(index)] ?? "")
      .replace(/(<\/h[23]>)\n/g, "$1")
  );
}
