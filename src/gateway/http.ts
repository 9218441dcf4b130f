/** The HTTP side: health, readiness, metrics, the tools API and the web page. */
import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { accepts } from "hono/accepts";
import { bodyLimit } from "hono/body-limit";
import { secureHeaders } from "hono/secure-headers";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import type { Actor } from "../core/route.ts";
import { type ErrorBody, methods } from "../protocol/frames.ts";
import { bearerOrPassword, bearerToken, type TokenGate } from "./auth.ts";
import { errorBody, httpStatus, internalError } from "./error-body.ts";
import { parseJson } from "./json-text.ts";
import type { ServerLimits } from "./limits.ts";
import { checkHost, checkOrigin, peerOf } from "./peer.ts";
import type { QueueBoard } from "./queue-board.ts";
import type { Refusals } from "./refusals.ts";
import type { ServerDeps } from "./server-deps.ts";
import type { Encoding, StaticFiles } from "./static-files.ts";
import type { Work } from "./work.ts";

type Env = { Bindings: HttpBindings };

export interface HttpParts {
  readonly deps: ServerDeps;
  readonly limits: ServerLimits;
  readonly gate: TokenGate;
  readonly work: Work;
  readonly files: StaticFiles;
  readonly refusals: Refusals;
  readonly draining: () => boolean;
}

/** Aborts when the caller goes away before it has its answer: its call is cancelled. */
function hungUp(answer: ServerResponse): AbortSignal {
  const controller = new AbortController();
  answer.once("close", () => {
    if (!answer.writableFinished) controller.abort();
  });
  return controller.signal;
}

/**
 * The length of the body as its head says it; the parser takes no byte more. Undefined: only reading it tells, and to
 * count while reading costs a web stream per call.
 */
function declaredLength(c: Context<Env>): number | undefined {
  const { "content-length": length, "transfer-encoding": encoding } = c.env.incoming.headers;
  return length === undefined || encoding !== undefined ? undefined : Number(length);
}

/** Callers of the tools API hold the token: they act for the operator, over the API. */
const API_ACTOR: Actor = { kind: "person", channel: "api", accountId: "default", id: "operator" };

const KNOWN_ROUTES = new Set(["/", "/healthz", "/readyz", "/metrics", "/tools/invoke", "/tools/list"]);
/** `BOARD_PATH` of queue-board.ts, which is loaded only when it is asked for. */
const BOARD = "/queues";

/** Nothing from elsewhere, nothing inline that runs, and nobody may put the page into a frame. */
const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", "data:"],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  manifestSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};
/** Bull Board's page has a base address and styles of its own; its fonts from elsewhere stay out. */
const BOARD_POLICY = { ...PAGE_POLICY, baseUri: ["'self'"], styleSrc: ["'self'", "'unsafe-inline'"] };

export function createHttpApp(parts: HttpParts): Hono<Env> {
  const { deps, limits, gate, work, files, refusals, draining } = parts;
  const app = new Hono<Env>();
  const refused = (c: Context<Env>, error: unknown): Promise<void> =>
    refusals.note({
      surface: "http",
      reason: error instanceof ExecError ? error.code : "internal",
      peer: peerOf(c.env.incoming),
    });

  app.use(async (c, next) => {
    const started = deps.clock.monotonic();
    await next();
    const route = routeLabel(c.req.path, c.res.status);
    deps.metrics.http.requests.inc({ method: c.req.method, route, status: String(c.res.status) });
    deps.metrics.http.seconds.observe({ method: c.req.method, route }, (deps.clock.monotonic() - started) / 1000);
  });

  const [pageHeaders, boardHeaders] = [PAGE_POLICY, BOARD_POLICY].map((contentSecurityPolicy) =>
    secureHeaders({
      contentSecurityPolicy,
      xFrameOptions: "DENY",
      // Plain HTTP on loopback is the normal case; a proxy that speaks TLS adds its own.
      strictTransportSecurity: false,
      referrerPolicy: "no-referrer",
      permissionsPolicy: { camera: [], microphone: [], geolocation: [], usb: [] },
    }),
  ) as [MiddlewareHandler<Env>, MiddlewareHandler<Env>];
  app.use((c, next) => (isBoard(c.req.path) ? boardHeaders : pageHeaders)(c, next));

  // Before the Host check, so that a probe may call us what it likes; it tells nothing and costs nothing.
  app.get("/healthz", (c) => c.json({ ok: true }));

  app.use(async (c, next) => {
    try {
      checkHost(c.req.header("host"), deps.auth);
      if (c.req.method !== "GET" && c.req.method !== "HEAD") checkOrigin(c.env.incoming.headers, deps.auth);
    } catch (error) {
      await refused(c, error);
      throw error;
    }
    await next();
  });

  const authorize = async (c: Context<Env>, tokenOf = bearerToken): Promise<void> => {
    try {
      await gate.check(tokenOf(c.req.header("authorization")), peerOf(c.env.incoming));
    } catch (error) {
      await refused(c, error);
      throw error;
    }
  };

  app.get("/readyz", async (c) => {
    const state = await deps.readiness();
    const ready = state.ready && !draining();
    // Details name files and hosts; only a holder of the token may read them.
    const token = bearerToken(c.req.header("authorization"));
    if (token !== undefined) await authorize(c);
    const checks = token === undefined ? state.checks.map(({ name, ok }) => ({ name, ok })) : state.checks;
    return c.json({ ready, draining: draining(), checks }, ready ? 200 : 503);
  });

  app.get("/metrics", async (c) => {
    await authorize(c);
    const { registry } = deps.metrics;
    return c.text(await registry.metrics(), 200, { "content-type": registry.contentType });
  });

  const tooLarge = () =>
    new ExecError("payload-too-large", `The body is larger than ${limits.maxBodyBytes} bytes (gateway.maxBodyBytes).`, {
      maxBytes: limits.maxBodyBytes,
    });
  const countedBody = bodyLimit({
    maxSize: limits.maxBodyBytes,
    onError: () => {
      throw tooLarge();
    },
  });

  app.post(
    "/tools/invoke",
    async (c, next) => {
      // The token comes first: nobody else makes us read a body.
      await authorize(c);
      if (draining())
        throw new ExecError("draining", "The gateway is stopping and starts nothing new. Try again soon.");
      await next();
    },
    async (c, next) => {
      const length = declaredLength(c);
      if (length === undefined) return countedBody(c, next);
      if (length > limits.maxBodyBytes) throw tooLarge();
      await next();
    },
    async (c) => {
      const call = methods["tools.invoke"].parse(parseJson(await c.req.text(), "The body"));
      const { tool, args, agentId, sessionKey } = call;
      const signal = hungUp(c.env.outgoing);
      try {
        const result = await work.run(() =>
          deps.invokeTool({
            tool,
            args,
            actor: API_ACTOR,
            signal,
            ...(agentId === undefined ? {} : { agentId }),
            ...(sessionKey === undefined ? {} : { sessionKey }),
          }),
        );
        return c.json({ ok: true, result: { content: result.content, details: result.details } });
      } catch (error) {
        // Nobody is there to read what a cancelled call says.
        if (signal.aborted) return c.body(null, 408);
        throw error;
      }
    },
  );
  app.all("/tools/invoke", (c) =>
    failure(c, { code: "invalid-argument", message: "POST /tools/invoke with a JSON body." }, 405, { allow: "POST" }),
  );

  app.get("/tools/list", async (c) => {
    await authorize(c);
    return c.json({ ok: true, tools: await deps.listTools(c.req.query("agentId")) });
  });

  const { openQueueBoard } = deps;
  let opened: Promise<QueueBoard> | undefined;
  for (const path of openQueueBoard ? [BOARD, `${BOARD}/*`] : []) {
    app.get(path, async (c) => {
      await authorize(c, bearerOrPassword);
      opened ??= openQueueBoard?.();
      opened?.catch(() => {
        opened = undefined;
      });
      const board = await opened;
      const answer = await (board ? board.fetch(c.req.raw, c.env) : c.notFound());
      // What a job holds is nobody else's, and old by the next look.
      if (c.req.path.startsWith(`${BOARD}/api/`)) answer.headers.set("cache-control", "no-store");
      return answer;
    });
    app.all(path, (c) =>
      failure(c, { code: "invalid-argument", message: "The queues can be looked at, not changed." }, 405, {
        allow: "GET, HEAD",
      }),
    );
  }

  app.get("*", async (c) => {
    const file = files.get(c.req.path);
    if (!file) {
      if (c.req.path === "/" && files.empty) return c.text(PAGE_NOT_BUILT, 503);
      throw new ExecError("not-found", `There is nothing at ${c.req.path}.`);
    }
    const headers: Record<string, string> = {
      "content-type": file.contentType,
      "cache-control": file.cacheControl,
      etag: file.etag,
    };
    if (file.compressible) headers.vary = "accept-encoding";
    if (c.req.header("if-none-match")?.includes(file.etag)) return c.body(null, 304, headers);
    const encoding = file.compressible ? encodingFor(c) : "identity";
    if (encoding !== "identity") headers["content-encoding"] = encoding;
    return c.body(await file.body(encoding), 200, headers);
  });

  app.notFound((c) => failure(c, { code: "not-found", message: `There is nothing at ${c.req.path}.` }, 404));
  app.onError((error, c) => {
    const body = errorBody(error);
    if (body) return failure(c, body, httpStatus(body.code as ErrorCode));
    const reference = deps.newId();
    deps.logger.error({ err: error, reference, path: c.req.path }, "request failed");
    return failure(c, internalError(reference), 500);
  });
  return app;
}

const ASK_FOR_TOKEN = 'Bearer realm="openclaw-exec"';
/** The user name does not matter; the password is the gateway token. */
const ASK_FOR_PASSWORD = 'Basic realm="openclaw-exec: any name, and the gateway token as password", charset="UTF-8"';
const PAGE_NOT_BUILT = "The web chat is not built. Run: npm run build\n";

function isBoard(path: string): boolean {
  return path === BOARD || path.startsWith(`${BOARD}/`);
}

/** A path from outside is no label: anybody could fill the registry with made-up ones. */
function routeLabel(path: string, status: number): string {
  if (KNOWN_ROUTES.has(path)) return path;
  if (status === 404) return "unknown";
  return isBoard(path) ? BOARD : "static";
}

function failure(
  c: Context<Env>,
  error: ErrorBody,
  status: ReturnType<typeof httpStatus> | 405,
  headers: Record<string, string> = {},
): Response {
  const extra: Record<string, string> = { ...headers };
  if (error.retryAfterMs !== undefined) extra["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000));
  if (status === 401) extra["www-authenticate"] = isBoard(c.req.path) ? ASK_FOR_PASSWORD : ASK_FOR_TOKEN;
  // What was not read of the body would be taken for the next request.
  if (status === 401 || status === 413 || status === 429 || status === 503) extra.connection = "close";
  return c.json({ ok: false, error }, status, extra);
}

function encodingFor(c: Context<Env>): Encoding {
  return accepts(c, {
    header: "Accept-Encoding",
    supports: ["br", "gzip", "identity"],
    default: "identity",
  }) as Encoding;
}
