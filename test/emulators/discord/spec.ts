/**
 * Checks bodies against Discord's OpenAPI document where it is at hand. Schemas compile lazily: a few hundred
 * milliseconds each, once per process.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { loadPlatformSpec } from "../shared/specs.ts";

export interface SpecCheck {
  /** Problems of a request body, or none when the document does not know the route. */
  request(method: string, template: string, body: unknown): readonly string[];
  response(schema: string, body: unknown): readonly string[];
}

const EXTRA_FORMATS = ["int32", "int64", "double", "nonce", "snowflake"] as const;

interface OpenApi {
  readonly paths: Record<string, Record<string, { requestBody?: { content?: Record<string, unknown> } }>>;
}

export function loadSpec(): SpecCheck | undefined {
  const document = loadPlatformSpec("discord-openapi.compact.json") as OpenApi | undefined;
  if (!document) return undefined;
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  (formats as unknown as { default: (target: Ajv2020) => void }).default(ajv);
  for (const name of EXTRA_FORMATS) ajv.addFormat(name, true);
  ajv.addSchema(document, "dc");
  const compiled = new Map<string, ValidateFunction | undefined>();
  const check = (pointer: string, body: unknown): readonly string[] => {
    if (!compiled.has(pointer)) compiled.set(pointer, ajv.getSchema(pointer));
    const validate = compiled.get(pointer);
    if (!validate || validate(body)) return [];
    return (validate.errors ?? []).slice(0, 3).map((one) => `${one.instancePath || "body"} ${one.message ?? ""}`);
  };
  return {
    request(method, template, body) {
      if (!document.paths[template]?.[method.toLowerCase()]?.requestBody?.content?.["application/json"]) return [];
      const escaped = template.replaceAll("~", "~0").replaceAll("/", "~1");
      return check(`dc#/paths/${escaped}/${method.toLowerCase()}/requestBody/content/application~1json/schema`, body);
    },
    response: (schema, body) => check(`dc#/components/schemas/${schema}`, body),
  };
}
