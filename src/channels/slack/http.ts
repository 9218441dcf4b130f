/**
 * HTTP mode: the listener for Slack's request URL. Bolt verifies the signature over the untouched body, within its limit,
 * and answers unsigned certificate checks (`ssl_check`); it accepts timestamps from the future, so the clock difference
 * is checked here in both directions first.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HTTPReceiver } from "@slack/bolt";
import { SIGNATURE_WINDOW_S } from "./limits.ts";

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Without the header nothing is signed: bolt refuses that, except for a certificate check, which carries nothing. */
function isStale(header: string | string[] | undefined, nowMs: number): boolean {
  if (header === undefined) return false;
  if (typeof header !== "string" || !/^\d{1,12}$/.test(header)) return true;
  return Math.abs(nowMs / 1000 - Number(header)) > SIGNATURE_WINDOW_S;
}

export function slackRequestListener(receiver: HTTPReceiver, path: string, nowMs: () => number): RequestListener {
  return (request, response) => {
    const [target] = (request.url ?? "").split("?", 1);
    if (target !== path) {
      refuse(response, 404);
    } else if (request.method !== "POST") {
      refuse(response, 405);
    } else if (isStale(request.headers["x-slack-request-timestamp"], nowMs())) {
      request.resume();
      refuse(response, 401);
    } else {
      receiver.requestListener(request, response);
    }
  };
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status);
  response.end();
}
