import { parseEnv } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { readNamedFile } from '../../input.js';
import { parseSwitch } from '../../option-values.js';

/** A file of variables that was read. */
interface ConfigFile {
  readonly path: string;
  /** The variables that it set. */
  readonly names: readonly string[];
}

export function configOption(): Option {
  return new Option('--config <file>', 'file of variables, NAME=value a line');
}

/**
 * Sets the variables of the file that `--config` names; `null` without it. Variables that are set already stay as they
 * are; an empty one counts as not set. Node.js takes a flag --env-file for its own.
 *
 * @throws InvalidInputError if the file cannot be read, or has another format, such as YAML
 */
export async function readConfig(command: Command): Promise<ConfigFile | null> {
  const path: string | undefined = command.getOptionValue('config');
  if (path === undefined) return null;
  const text = await readNamedFile(path, quoteName(path));
  const variables = parseEnv(text);
  if (Object.keys(variables).length === 0 && !/^\s*(?:#.*\s*)*$/.test(text)) {
    throw new InvalidInputError(`${quoteName(path)} holds no variable`, {
      hint: 'Write one a line, such as PORT=8787 or USERINFO_MAX_BODY=1MiB.',
    });
  }
  const unset = Object.entries(variables).filter(([name]) => !process.env[name]);
  for (const [name, value] of unset) process.env[name] = value;
  return { path, names: unset.map(([name]) => name) };
}

/** The options without a variable; those of the database are read by `database.ts`, for `admin`, too. */
const withoutVariable = ['config', 'demo', 'database'];

/**
 * Sets the options of `serve` that no flag sets from variables, those of `--config` included.
 *
 * @throws InvalidInputError that names the variable, and the file that it comes from; as `readConfig`
 */
export async function takeVariables(serve: Command): Promise<void> {
  const file = await readConfig(serve);
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
