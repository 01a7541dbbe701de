import type { Command } from 'commander';
import { openApiDocument } from '../../protocol/openapi.js';
import type { CliContext } from '../context.js';
import { write } from '../io.js';
import { type CommonOptions, examples } from '../options.js';
import { printData } from '../output/print.js';
import { outputStyle } from '../output/style.js';
import { defaultUrl } from '../serve/options.js';

export function declareOpenApi(program: Command, context: CliContext): void {
  const command = program
    .command('openapi')
    .summary('print the OpenAPI description of both operations')
    .description(
      'Print both operations as an OpenAPI 3.1 document. "userinfo serve" serves it at /openapi.json.',
    )
    .addHelpText(
      'after',
      examples(
        ['userinfo openapi > openapi.json', 'as JSON'],
        ['userinfo openapi -o yaml', 'as YAML'],
        ["userinfo openapi --query 'keys(components.schemas)'", 'part of it'],
      ),
    )
    .action(() => runOpenApi(context, command.optsWithGlobals()));
}

async function runOpenApi({ io }: CliContext, options: CommonOptions): Promise<void> {
  const style = await outputStyle(options, io);
  const variables = {
    base_url: { default: defaultUrl, description: 'The test or the production deployment' },
  };
  const document = openApiDocument([{ url: '{base_url}', variables }]);
  const isJson = style.format === 'json' || style.format === 'table';
  if (isJson && style.select === undefined) await write(io.stdout, `${JSON.stringify(document, null, 2)}\n`);
  else await printData(document, io, style);
}
