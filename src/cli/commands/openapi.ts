import { defaultPlatform } from '../../platform/platform.js';
import { readPlatform } from '../call/deployment.js';
import { type Call, command } from '../command.js';
import type { ConnectionOptions } from '../command-line/options.js';
import { write } from '../io.js';
import { defaultUrl } from './serve/options.js';

export const declareOpenApi = command({
  name: 'openapi',
  summary: 'print the OpenAPI description of both operations',
  takes: (command) => command.option('--platform <file>', 'platform file: describe that platform'),
  run: async (call: Call<Pick<ConnectionOptions, 'platform'>>) => {
    const { context, io, options, style, print } = call;
    const { openApiDocument } = await import('../../protocol/openapi.js');
    const { platform: file = '' } = options;
    const platform = file === '' ? defaultPlatform : await readPlatform(context, file);
    const description = 'The test or the production deployment';
    const variables = { base_url: { default: defaultUrl } };
    const document = openApiDocument([{ url: '{base_url}', description, variables }], platform);
    const isJson = (style.format === 'json' || style.format === 'table') && style.select === undefined;
    return isJson ? write(io.stdout, `${JSON.stringify(document, null, 2)}\n`) : print(document);
  },
});
