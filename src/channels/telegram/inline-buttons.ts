/**
 * `capabilities.inlineButtons`: in which chats cards have buttons. Where they are hidden, a request says what to type. What was
 * decided about a request counts all the same, so its buttons that are out already go on working. Pure.
 */
import type { Chat } from "grammy/types";
import type { PressAction } from "../../core/cards.ts";
import { bold, code, join, lines, type Rich, text } from "./markup.ts";

export type InlineButtons = "off" | "dm" | "group" | "all" | "allowlist";

/**
 * `all` and `allowlist` are the same here: whoever presses has to be allowed to, in both. They are two because
 * configurations written for OpenClaw name either.
 */
export function showsButtons(scope: InlineButtons, chatType: "dm" | "group" | "channel" | Chat["type"]): boolean {
  const isDirect = chatType === "dm" || chatType === "private";
  switch (scope) {
    case "off":
      return false;
    case "dm":
      return isDirect;
    case "group":
      return !isDirect;
    case "all":
    case "allowlist":
      return true;
  }
}

const ABOUT_REQUESTS: ReadonlySet<PressAction["kind"]> = new Set(["approval", "revoke", "approval-action"]);

/** What is pressed about a request is never lost to a setting about looks (channels.md 5.5). */
export function takesPress(scope: InlineButtons, chatType: Chat["type"], action: Pick<PressAction, "kind">): boolean {
  return ABOUT_REQUESTS.has(action.kind) || showsButtons(scope, chatType);
}

/** Each on a line of its own: a tap on it copies it. */
export function typedInstead(why: string, forms: readonly string[]): Rich {
  return lines([bold(text(why)), ...forms.map((form) => join([text("• "), code(form)]))]);
}
