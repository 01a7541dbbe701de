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
    .summary('see through a signature, check it, and find out its rule')
    .description('How a request becomes app_sign and sign: shown, checked, found. Nothing is sent.');
  declareSignExplain(sign, context);
  declareSignVerify(sign, context);
  declareSignSolve(sign, context);
  declareSignVectors(sign, context);
  declareSignPresets(sign, context);
}
