import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Endpoint, endpoints } from '../../src/core/contract/endpoints.js';
import { openApiDocument } from '../../src/core/contract/openapi.js';
import { defaultPlatform, type Platform } from '../../src/core/platform/platform.js';
import type { Answer } from './foreign-client.js';

/** The OpenAPI document of a platform, as a schema of the answers of its service. */
export class OpenApiSchema {
  readonly document: ReturnType<typeof openApiDocument>;
  readonly #ajv: Ajv2020;

  constructor(platform: Platform = defaultPlatform) {
    this.document = openApiDocument([{ url: '.' }], platform);
    this.#ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema(this.document, 'it');
  }

  /** What is wrong with a value by the schema at a path of the document; empty if nothing is. */
  faults(path: readonly string[], value: unknown): unknown {
    const pointer = path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    const validate = this.#ajv.getSchema(`it#/${pointer}`);
    if (validate === undefined) return `nothing is said of ${path.join(' ')}`;
    return validate(value) ? [] : validate.errors;
  }

  /** What is wrong with an answer of an endpoint. */
  faultsOfAnswer({ path, method }: Endpoint, { status, envelope }: Answer): unknown {
    const response = ['paths', path, method.toLowerCase(), 'responses', String(status)];
    return this.faults([...response, 'content', 'application/json', 'schema'], envelope);
  }
}

/** The endpoint at a path; undefined if there is none. */
export function endpointAt(path: string): Endpoint | undefined {
  return endpoints.find((endpoint) => endpoint.path === path);
}
