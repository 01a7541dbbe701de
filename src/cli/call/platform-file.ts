// Only --platform and its variable load it.
import { type Platform, parsePlatform } from '../../platform/platform.js';
import type { CliContext } from '../context.js';
import { inputName, readJson } from '../input.js';

/** @throws InvalidInputError for a file that cannot be read, or a field that is not valid */
export async function readPlatform(context: CliContext, file: string): Promise<Platform> {
  return parsePlatform(await readJson(context, file), inputName(file));
}
