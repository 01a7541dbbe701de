import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { describeSystemError } from '../../../support/errors.js';
import { parseSwitch } from '../../option-values.js';

/** A file of variables that was read. */
interface ConfigFile {
  readonly path: string;
  /** The variables that it set. */
  readonly names: readonly string[];
}

/**
 * Variables that are set already stay as they are; an empty one counts as not set. Node.js takes a flag --env-file for
 * its own.
 */
export function configOption(): Option {
  return new Option('--config <file>', 'file of variables, NAME=value a line').argParser(
    (path): ConfigFile => {
      const variables = Object.entries(readVariables(path)).filter(([name]) => !process.env[name]);
      for (const [name, value] of variables) process.env[name] = value;
      return { path, names: variables.map(([name]) => name) };
    },
  );
}

/** @throws InvalidInputError if the file cannot be read, or has another format, such as YAML */
function readVariables(path: string) {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (cause) {
    throw new InvalidInputError(`${quoteName(path)} cannot be read: ${describeSystemError(cause)}`, {
      cause,
    });
  }
  const variables = parseEnv(text);
  if (Object.keys(variables).length > 0 || /^\s*(?:#.*\s*)*$/.test(text)) return variables;
  throw new InvalidInputError(`${quoteName(path)} holds no variable`, {
    hint: 'Write one a line, such as PORT=8787 or USERINFO_MAX_BODY=1MiB.',
  });
}

/** The options without a variable; those of the database are read by `database.ts`, for `admin`, too. */
const withoutVariable = ['config', 'demo', 'database'];

/**
 * Sets the options of `serve` that no flag sets from variables.
 *
 * @throws InvalidInputError that names the variable, and the file that it comes from
 */
export function takeVariables(serve: Command): void {
  const file: ConfigFile | undefined = serve.getOptionValue('config');
  for (const option of serve.options) {
    const name = option.attributeName();
    if (withoutVariable.includes(name) || serve.getOptionValueSource(name) === 'cli') continue;
    const variable = variablesOf(option).find((candidate) => process.env[candidate]);
    if (variable === undefined) continue;
    const place = file?.names.includes(variable) ? `${variable} in ${file.path}` : variable;
    const value = readVariable(option, process.env[variable] ?? '', place);
    if (value !== undefined) serve.setOptionValueWithSource(name, value, 'env');
  }
}

/** PORT is what platforms set. */
function variablesOf(option: Option): string[] {
  const own = `USERINFO_${option.name().replaceAll('-', '_').toUpperCase()}`;
  return option.name() === 'port' ? [own, 'PORT'] : [own];
}

/** `undefined` for a switch that is off. */
function readVariable(option: Option, text: string, place: string): unknown {
  const { required, negate, parseArg = String } = option;
  if (!required) return parseSwitch(text, place) ? !negate : undefined;
  try {
    return parseArg(text, undefined as never);
  } catch (error) {
    if (error instanceof InvalidArgumentError) {
      throw new InvalidInputError(`${place}: ${quoteName(text)} is not allowed`, { hint: error.message });
    }
    if (!(error instanceof InvalidInputError)) throw error;
    const { message, hint } = error;
    throw new InvalidInputError(`${place}: ${message}`, hint === undefined ? {} : { hint });
  }
}
