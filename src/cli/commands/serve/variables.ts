import { type Command, InvalidArgumentError, type Option } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { parseSwitch } from '../../command-line/option-values.js';

/** The options without a variable; those of the database are read by `database.ts`, for `admin`, too. */
const withoutVariable = ['demo', 'database'];

/**
 * Sets the options of `serve` that no flag sets from variables.
 *
 * @throws InvalidInputError that names the variable
 */
export function takeVariables(serve: Command): void {
  for (const option of serve.options) {
    const name = option.attributeName();
    if (withoutVariable.includes(name) || serve.getOptionValueSource(name) === 'cli') continue;
    const variable = variablesOf(option).find((candidate) => process.env[candidate]);
    if (variable === undefined) continue;
    const value = readVariable(option, process.env[variable] ?? '', variable);
    if (value !== undefined) serve.setOptionValueWithSource(name, value, 'env');
  }
}

/** PORT is what platforms set. */
function variablesOf(option: Option): string[] {
  const own = `USERINFO_${option.name().replaceAll('-', '_').toUpperCase()}`;
  return option.name() === 'port' ? [own, 'PORT'] : [own];
}

/** `undefined` for a switch that is off. */
function readVariable(option: Option, text: string, variable: string): unknown {
  const { required, negate, parseArg = String } = option;
  if (!required) return parseSwitch(text, variable) ? !negate : undefined;
  try {
    return parseArg(text, undefined as never);
  } catch (error) {
    if (error instanceof InvalidArgumentError) {
      throw new InvalidInputError(`${variable}: ${quoteName(text)} is not allowed`, { hint: error.message });
    }
    if (!(error instanceof InvalidInputError)) throw error;
    const { message, hint } = error;
    throw new InvalidInputError(`${variable}: ${message}`, hint === undefined ? {} : { hint });
  }
}
