/** Holds replies against the OpenAPI document that a service serves, by a JSON Schema validator that is not the service's own. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}
export interface Operation {
  readonly summary: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

/** Throws when the reply is not what the document says; unknown paths pass, their refusals have no operation. */
export type ReplyCheck = (method: string, path: string, status: number, body: unknown) => void;

export function openApiCheck(document: OpenApiDocument): ReplyCheck {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();
  const validatorOf = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  const operations = Object.entries(document.paths).map(([path, methods]) => ({
    path,
    methods,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return (method, path, status, body) => {
    const plain = path.split('?')[0]!;
    const found =
      operations.find(({ path: exact }) => exact === plain) ?? operations.find(({ pattern }) => pattern.test(plain));
    const operation = found?.methods[method.toLowerCase()];
    if (!found || !operation) return;
    const name = status in operation.responses ? String(status) : 'default';
    if (status < 400 && name === 'default')
      throw new Error(`${method} ${plain} answered ${status}, which its description does not name`);
    if (!operation.responses[name]?.content) return;
    const escaped = found.path
      .replaceAll('~', '~0')
      .replaceAll('/', '~1')
      .replaceAll('{', '%7B')
      .replaceAll('}', '%7D');
    const validate = validatorOf(
      `/paths/${escaped}/${method.toLowerCase()}/responses/${name}/content/application~1json/schema`,
    );
    if (!validate(body))
      throw new Error(
        `${method} ${plain} answered ${status} against its description: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body).slice(0, 500)}`,
      );
  };
}
