import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { declareVectorsExport } from './vectors-export.js';
import { declareVectorsVerify } from './vectors-verify.js';

export function declareSignVectors(sign: Command, context: CliContext): void {
  const vectors = sign
    .command('vectors')
    .summary('test vectors for a team that signs in another language')
    .description('Requests with a throw-away key, and what each stage of signing them gives.');
  declareVectorsExport(vectors, context);
  declareVectorsVerify(vectors, context);
}
