/**
 * The emulator's own answers against Slack's published Web API spec, when it is there: the fields a success must have, and
 * the form of the plain ones. Nested objects are left out: the spec is of 2021 and closed against newer fields.
 */
import { Ajv, type ValidateFunction } from "ajv";
import { loadPlatformSpec } from "../shared/specs.ts";

type Json = Record<string, unknown>;

interface WebSpec {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: { readonly "200": { readonly schema: Json } } }>>>
  >;
  readonly definitions: Readonly<Record<string, Json>>;
}

export class ResponseCheck {
  private readonly spec = loadPlatformSpec("slack-web.compact.json") as WebSpec | undefined;
  private readonly ajv = new Ajv({ strict: false, validateFormats: false });
  private readonly compiled = new Map<string, ValidateFunction | undefined>();

  problems(method: string, reply: unknown): string[] {
    if (!this.compiled.has(method)) this.compiled.set(method, this.compile(method));
    const validate = this.compiled.get(method);
    if (validate === undefined || validate(reply)) return [];
    return (validate.errors ?? []).map((error) => `emulator reply${error.instancePath} ${error.message ?? ""}`);
  }

  private compile(method: string): ValidateFunction | undefined {
    const operation = Object.values(this.spec?.paths[`/${method}`] ?? {})[0];
    if (operation === undefined) return undefined;
    const { required, properties } = operation.responses["200"].schema as {
      required?: string[];
      properties?: Record<string, Json>;
    };
    const plain = Object.entries(properties ?? {})
      .map(([name, schema]) => [name, this.resolve(schema)] as const)
      .filter(([, schema]) => schema.type === "string" || schema.type === "boolean" || schema.type === "integer");
    return this.ajv.compile({ type: "object", required, properties: Object.fromEntries(plain) });
  }

  private resolve(schema: Json): Json {
    const name = typeof schema.$ref === "string" ? schema.$ref.replace("#/definitions/", "") : undefined;
    return name === undefined ? schema : (this.spec?.definitions[name] ?? {});
  }
}
