import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { declareSignExplain } from './explain.js';
import { declareSignPresets } from './presets.js';
import { declareSignSolve } from './solve.js';
import { declareSignVectors } from './vectors.js';
import { declareSignVerify } from './verify.js';

export function declareSign(program: Command, context: CliContext): void {
  const sign = program
    .command('sign')
    .summary('explain and verify signatures, and find signing rules')
    .description(
      'Explain how a request becomes app_sign and sign, verify signatures, and find signing rules. Nothing is sent.',
    );
  declareSignExplain(sign, context);
  declareSignVerify(sign, context);
  declareSignSolve(sign, context);
  declareSignVectors(sign, context);
  declareSignPresets(sign, context);
}
