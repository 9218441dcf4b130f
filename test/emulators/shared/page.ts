/**
 * The page where a person (or a headless browser) plays a user of the platform: chats on the left, messages in the
 * middle, a composer below, a switch of users. Messages arrive as HTML that the emulator has already escaped.
 *
 * `?user=U1&chat=C1` fixes a view for screenshots; `<body data-ready>` appears once the stream is up and drawn.
 */

export interface PageButton {
  readonly id: string;
  readonly label: string;
  readonly style: "primary" | "success" | "danger" | "plain";
  readonly disabled?: boolean;
  /** The platform asks this before it sends the press. */
  readonly confirm?: string;
  /** A closed list under this label; picking one presses it. */
  readonly options?: readonly { readonly id: string; readonly label: string }[];
  /** It opens a menu of these. */
  readonly menu?: readonly PageButton[];
}

export interface PageMessage {
  readonly id: string;
  readonly author: string;
  readonly bot: boolean;
  /** Written by the person the page plays. */
  readonly own?: boolean;
  readonly time: string;
  /** Escaped by the emulator. Elements with `data-press="<button id>"` act as buttons. */
  readonly html: string;
  readonly buttons: readonly (readonly PageButton[])[];
  readonly ephemeral?: boolean;
  readonly edited?: boolean;
  /** Replies are drawn indented. */
  readonly indent?: boolean;
  /** Accent colour of a card. */
  readonly accent?: string;
}

export interface PageModal {
  readonly title: string;
  readonly submit: string;
  readonly close: string;
  readonly fields: readonly {
    readonly id: string;
    readonly label: string;
    readonly multiline: boolean;
    readonly optional: boolean;
  }[];
}

export interface PageState {
  readonly users: readonly { readonly id: string; readonly name: string }[];
  readonly chats: readonly { readonly id: string; readonly name: string }[];
  readonly user: string;
  readonly chat: string;
  readonly messages: readonly PageMessage[];
  readonly modal?: PageModal;
  readonly commands: readonly string[];
  /** A dialog or toast of the platform's own, for example an alert after a button press. */
  readonly toast?: string;
}

export interface PageTheme {
  readonly title: string;
  /** Class on `<body>`, for the emulator's own rules in `css`. */
  readonly className: string;
  readonly css: string;
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

export function renderPage(theme: PageTheme): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(theme.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${BASE_CSS}${theme.css}</style></head>
<body class="${escapeHtml(theme.className)}">
<nav><h1>${escapeHtml(theme.title)}</h1><label>You are <select id="user"></select></label><ul id="chats"></ul></nav>
<main><ol id="messages"></ol>
<form id="composer"><input id="text" autocomplete="off" placeholder="Message, or /command" aria-label="Message"><button>Send</button></form></main>
<dialog id="modal"></dialog><p id="toast" role="status"></p>
<script type="module">${CLIENT_JS}</script></body></html>`;
}

const BASE_CSS = `
*{box-sizing:border-box}body{margin:0;display:flex;height:100vh;font:15px/1.46 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;color:#1d1c1d;background:#fff}
nav{width:210px;padding:14px;background:#3f0e40;color:#fff;overflow:auto}nav h1{font-size:17px;margin:0 0 12px}nav select{width:100%;margin:4px 0 12px}
nav ul{list-style:none;margin:0;padding:0}nav li button{width:100%;text-align:left;border:0;background:none;color:inherit;padding:4px 8px;border-radius:6px;font:inherit;cursor:pointer}
nav li[aria-current] button{background:#ffffff33}main{flex:1;display:flex;flex-direction:column;min-width:0}
#messages{list-style:none;margin:0;padding:12px 20px;flex:1;overflow:auto}#messages li{padding:6px 0;max-width:820px}#messages li.indent{margin-left:40px}
.who{font-weight:700}.who small{font-weight:400;color:#616061;margin-left:6px}.app{background:#e8e8e8;border-radius:3px;font-size:10px;padding:1px 4px;margin-left:5px}
.only{color:#616061;font-size:12px}.body{overflow-wrap:anywhere}.body pre{background:#f8f8f8;border:1px solid #ddd;border-radius:4px;padding:8px;margin:4px 0;white-space:pre-wrap;font:12px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
.body code{background:#f0f0f2;border:1px solid #ddd;border-radius:3px;padding:0 3px;font:12px/1.5 ui-monospace,"DejaVu Sans Mono",monospace;color:#c01343}.body pre code{border:0;background:none;color:inherit;padding:0}
.row{display:flex;flex-wrap:wrap;gap:8px;margin:6px 0}.row button{font:inherit;font-weight:700;padding:4px 12px;border-radius:4px;border:1px solid #bbb;background:#fff;cursor:pointer}
.row select{font:inherit;max-width:100%;padding:6px 10px;border-radius:4px;border:1px solid #bbb;background:#fff}
.menu{position:relative}.menu summary{list-style:none;font-weight:700;padding:4px 12px;border-radius:4px;border:1px solid #bbb;cursor:pointer}.menu summary::-webkit-details-marker{display:none}
.menu div{position:absolute;z-index:1;bottom:calc(100% + 4px);left:0;min-width:190px;padding:6px 0;background:#fff;border:1px solid #ccc;border-radius:8px;box-shadow:0 4px 14px #0003}
.menu div button{display:block;width:100%;text-align:left;border:0;border-radius:0;background:none;font-weight:400;padding:5px 14px}.row button.primary{background:#1264a3;border-color:#1264a3;color:#fff}.row button.success{background:#007a5a;border-color:#007a5a;color:#fff}.row button.danger{background:#e01e5a;border-color:#e01e5a;color:#fff}
#composer{display:flex;gap:8px;padding:12px 20px;border-top:1px solid #ddd}#composer input{flex:1;font:inherit;padding:8px}
#toast{position:fixed;right:20px;top:20px;margin:0;padding:10px 14px;background:#1d1c1d;color:#fff;border-radius:6px}#toast:empty{display:none}
dialog{border:1px solid #bbb;border-radius:8px;width:min(460px,calc(100vw - 24px))}dialog textarea,dialog input{width:100%;font:inherit;padding:6px}
#composer button{font:inherit;font-weight:600;padding:8px 14px;border:0;border-radius:8px;background:#1264a3;color:#fff;cursor:pointer}#composer input{min-width:0;border:1px solid #bbb;border-radius:8px}
.body ul{margin:2px 0;padding-left:22px;list-style:disc;white-space:normal}#messages .body li{padding:0;max-width:none}
@media (max-width:640px){body{flex-direction:column}nav{width:auto;padding:8px 12px;display:flex;gap:10px;align-items:center;flex-shrink:0}nav h1{font-size:15px;margin:0;white-space:nowrap}
nav label{font-size:0}nav select{width:auto;max-width:110px;margin:0;font-size:14px}nav ul{display:flex;overflow-x:auto;gap:4px}nav li button{white-space:nowrap}main{min-height:0}
#messages{padding:8px 12px}#messages li.indent{margin-left:16px}.row button{flex:1 1 auto;padding:8px 10px}#composer{padding:8px 12px}}`;

/** Small on purpose: draws the state it is given and posts what the person does. */
const CLIENT_JS = `
const $=(id)=>document.getElementById(id);const query=new URLSearchParams(location.search);
let user=query.get("user"),chat=query.get("chat"),state;
const el=(tag,props={},...kids)=>{const e=Object.assign(document.createElement(tag),props);e.append(...kids);return e};
const act=async(name,...args)=>{const r=await fetch("/_emu/"+name,{method:"POST",headers:{"content-type":"application/json"},body:JSON.stringify(args)});
  if(!r.ok){$("toast").textContent=(await r.json()).error;setTimeout(()=>{$("toast").textContent=""},4000)}};
const go=(next)=>{query.set("user",next.user??user);query.set("chat",next.chat??chat);location.search=query};
async function draw(){
  state=await(await fetch("/_ui/state?"+new URLSearchParams({...(user&&{user}),...(chat&&{chat})}))).json();user=state.user;chat=state.chat;
  $("user").replaceChildren(...state.users.map((u)=>el("option",{value:u.id,textContent:u.name,selected:u.id===user})));
  $("chats").replaceChildren(...state.chats.map((c)=>{const li=el("li",{},el("button",{type:"button",textContent:c.name,onclick:()=>go({chat:c.id})}));if(c.id===chat)li.setAttribute("aria-current","true");return li}));
  $("messages").replaceChildren(...state.messages.map(message));$("messages").scrollTop=1e9;
  modal(state.modal);if(state.toast){$("toast").textContent=state.toast}
  document.body.dataset.ready="true";document.body.dataset.count=state.messages.length;
}
function message(m){
  const head=el("div",{className:"who"},m.author);if(m.bot)head.append(el("span",{className:"app",textContent:"APP"}));head.append(el("small",{textContent:m.time+(m.edited?" (edited)":"")}));
  const li=el("li",{className:(m.indent?"indent ":"")+(m.bot?"bot":"human")+(m.own?" own":"")},...(m.ephemeral?[el("div",{className:"only",textContent:"Only visible to you"})]:[]),head,el("div",{className:"body",innerHTML:m.html}));
  li.dataset.id=m.id;if(m.accent)li.style.setProperty("--accent",m.accent);
  const card=m.accent?li.querySelector(".body"):li;
  const list=(b)=>{const s=el("select",{},el("option",{textContent:b.label,value:"",selected:true}),...b.options.map((o)=>el("option",{textContent:o.label,value:o.id})));s.onchange=()=>act("press",user,m.id,s.value);return s};
  for(const row of m.buttons)card.append(el("div",{className:"row"},...row.map((b)=>b.options?list(b):b.menu?menu(m,b):press(m,b))));
  return li}
function menu(m,b){const d=el("details",{className:"menu"},el("summary",{textContent:b.label,ariaLabel:b.label==="⋯"?"More actions":b.label}),el("div",{},...b.menu.map((o)=>press(m,o))));return d}
function press(m,b){const e=el("button",{type:"button",className:b.style,textContent:b.label,disabled:!!b.disabled,onclick:()=>{if(!b.confirm||confirm(b.confirm))act("press",user,m.id,b.id)}});e.dataset.action=b.id;return e}
function modal(m){const d=$("modal");if(!m){if(d.open)d.close();return}if(d.open)return;
  const form=el("form",{method:"dialog"},el("h2",{textContent:m.title}),...m.fields.map((f)=>el("label",{},f.label,el(f.multiline?"textarea":"input",{name:f.id,required:!f.optional,rows:4}))),
    el("div",{className:"row"},el("button",{type:"button",textContent:m.close,onclick:()=>act("closeModal",user)}),el("button",{className:"primary",textContent:m.submit})));
  form.onsubmit=(e)=>{e.preventDefault();act("submitModal",user,Object.fromEntries(new FormData(form)))};d.replaceChildren(form);d.showModal()}
$("user").onchange=(e)=>go({user:e.target.value});
$("composer").onsubmit=(e)=>{e.preventDefault();const text=$("text").value;if(!text.trim())return;$("text").value="";
  const m=/^\\/(\\S+)\\s*([\\s\\S]*)$/.exec(text);if(m&&state.commands.includes("/"+m[1]))act("slash",user,chat,"/"+m[1],m[2]);else act("say",user,chat,text)};
new EventSource("/_ui/events").onmessage=draw;`;
