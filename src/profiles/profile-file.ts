import { readFileSync } from 'node:fs';
import { InvalidInputError } from '../protocol/errors.js';
import { describeSystemError, isSystemError } from '../support/errors.js';
import { ProfileError, ProfileFileError } from './errors.js';
import { checkSchema, fileSchema, formatProfile, type JsonObject, parseProfile } from './profile-json.js';
import { noProfiles, type ProfileList } from './profile-list.js';

const howToRepair =
  'Correct it by hand, or move it away and add the profiles again: nothing in it was changed.';

/** The version of the file's format, which conf writes into it: the first number goes up with every change. */
export const formatVersion = '1.0.0';

/** What the file holds, which `fileSchema` allows (no interface: conf wants an index signature). */
export type ProfileFileJson = {
  readonly active?: string | null;
  readonly profiles?: Readonly<Record<string, JsonObject>>;
  readonly __internal__?: { readonly migrations?: { readonly version?: unknown } };
};

/**
 * Reads and checks the whole file without conf, which takes 100 ms of CPU to load, more than all of a read. One that
 * does not exist holds no profiles. Throws a ProfileFileError.
 */
export async function readProfileFile(path: string): Promise<ProfileList> {
  const text = readProfileText(path);
  return text === null ? noProfiles : parseProfileText(text, path);
}

/** The text of the file; `null` where there is none. Throws a ProfileFileError. */
export function readProfileText(path: string): string | null {
  try {
    // A small file: loading node:fs/promises would take longer.
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    if (isSystemError(cause, 'ENOENT')) return null;
    if (!isSystemError(cause))
      throw new ProfileFileError(`${path}: is not UTF-8 text`, { hint: howToRepair });
    throw new ProfileFileError(`${path}: cannot be read: ${describeSystemError(cause)}`, { cause });
  }
}

/**
 * Checks the text of the file, and takes the profiles from it. With `beforeWriting`, refuses doubled keys too:
 * JSON.parse lets the last one win, and writing would lose the others. Throws a ProfileFileError.
 */
export async function parseProfileText(
  text: string,
  path: string,
  { beforeWriting = false } = {},
): Promise<ProfileList> {
  const json = parseJson(text);
  if (json === undefined || beforeWriting) await refuseFaultyJson(text, path);
  refuseNewer(json, path);
  try {
    checkSchema(fileSchema, json);
    return toProfileList(json as ProfileFileJson);
  } catch (error) {
    if (!(error instanceof InvalidInputError || error instanceof ProfileError)) throw error;
    throw new ProfileFileError(`${path}: ${error.message}`, { hint: error.hint ?? howToRepair });
  }
}

/** `undefined` for a text that is not JSON. V8's message is dropped: it quotes the text, which may be a secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function refuseFaultyJson(text: string, path: string): Promise<void> {
  const { findJsonFault } = await import('../support/json-fault.js');
  const fault = findJsonFault(text);
  if (fault === null) return;
  const problem = fault.doubled ? 'the same key stands twice' : 'is not JSON: the fault is';
  throw new ProfileFileError(`${path}: ${problem} at line ${fault.line}, column ${fault.column}`, {
    hint: howToRepair,
  });
}

/** conf itself would take the file for one of its own version, and write that into it. */
function refuseNewer(json: unknown, path: string): void {
  const version = (json as ProfileFileJson | null)?.__internal__?.migrations?.version;
  if (version === undefined || Number.parseInt(String(version), 10) <= Number.parseInt(formatVersion, 10))
    return;
  throw new ProfileFileError(`${path}: was written by a newer userinfo`, { hint: 'Upgrade userinfo.' });
}

/** What a file that was checked holds. */
export function toProfileList({ active = null, profiles = {} }: ProfileFileJson): ProfileList {
  const entries = Object.entries(profiles);
  return { active, profiles: new Map(entries.map(([name, fields]) => [name, parseProfile(name, fields)])) };
}

/** As the file holds them, secrets in clear where they are kept there. */
export function formatProfileList({
  active,
  profiles,
}: ProfileList): Required<Omit<ProfileFileJson, '__internal__'>> {
  const entries = [...profiles].map(([name, profile]) => [name, formatProfile(profile)] as const);
  return { active, profiles: Object.fromEntries(entries) };
}
