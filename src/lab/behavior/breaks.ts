import { isObject, kindOf } from '../../core/contract/fields.js';
import { readDataWarnings } from '../../core/contract/read-data.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Platform } from '../../core/platform/platform.js';
import { dataOf, isCarriedOut, type Observation, saysTheSame } from './answer.js';
import type { Evidence } from './evidence.js';
import { doubtOfControl } from './refusals.js';
import { type FaultName, faults } from './requests.js';

/** A fixed rule of the spec that answers break: its section, and the number of answers. */
export interface Break {
  readonly section: string;
  readonly what: string;
  readonly answers: number;
}

/**
 * Finds the rules that the answers break. `shape` is how the platform writes what the spec leaves
 * open.
 */
export function findBreaks(evidence: Evidence, shape: Platform): Break[] {
  const found = [
    ...evidence.all.flatMap(envelopeBreaks),
    ...parameterBreaks(evidence),
    ...dataBreaks(evidence, shape),
  ];
  const counts = new Map<string, Break>();
  for (const [section, what] of found) {
    const answers = (counts.get(section + what)?.answers ?? 0) + 1;
    counts.set(section + what, { section, what, answers });
  }
  return [...counts.values()].toSorted((a, b) =>
    a.section < b.section ? -1 : Number(a.section > b.section),
  );
}

type Found = readonly [section: string, what: string];

/** §1, §7.1 */
function envelopeBreaks(answer: Observation): Found[] {
  const { asked, code, httpStatus, members } = answer;
  if (code === null) return [['§1', `no envelope, but HTTP ${httpStatus}: ${asked.title}`]];
  const { msg, data } = members;
  const isDone = isCarriedOut(answer);
  const where = isDone ? 'a success' : 'a refusal';
  return [
    ...(Number.isInteger(members.code) ? [] : [['§1', '"code" is text, not an integer'] as const]),
    ...(typeof msg === 'string'
      ? []
      : [['§1', `"msg" of ${where} ${isOrLacks(msg)}, not text`] as const]),
    ...(isObject(data)
      ? []
      : [['§1', `"data" of ${where} ${isOrLacks(data)}, not an object`] as const]),
    ...(isDone && code !== resultCode.ok
      ? [['§7.1', `a success has the code ${code}, not 200`] as const]
      : []),
    ...(code === resultCode.ok && typeof msg === 'string' && msg !== 'ok'
      ? [['§7.1', '"msg" of a success is not "ok"'] as const]
      : []),
  ];
}

/** The type of a value, without the value. */
function isOrLacks(value: unknown): string {
  if (value === undefined) return 'is missing';
  return `is ${typeof value === 'number' ? 'a number' : kindOf(value)}`;
}

/** The sections of the rules that a read with one of these faults breaks. */
const sections: Partial<Record<FaultName, string>> = {
  noCode: '§4.1',
  noChannel: '§4.1',
  shortRandom: '§8',
  shortTimestamp: '§8',
  unknownApp: '§5',
  wrongAppSign: '§5',
  wrongSign: '§5',
  otherMethod: '§4.1',
};

/** §4, §5, §8: what has to be refused. */
function parameterBreaks(evidence: Evidence): Found[] {
  const { control, faulty, issued, passbacks } = evidence;
  // Not by a gateway or a limit, which answers all alike.
  const isTold =
    doubtOfControl(evidence) === null && !saysTheSame(faulty.get('otherPath'), control);
  const ofReads = [...faulty].flatMap(([name, answer]): Found[] => {
    const section = sections[name];
    const last = issued.get(name) ?? answer;
    if (section === undefined || last === null) return [];
    if (isCarriedOut(last)) return [[section, `${faults[name].title} is accepted`]];
    const isLate = isTold && saysTheSame(last, control);
    return isLate
      ? [[section, `${faults[name].title} is not refused before the code is looked up`]]
      : [];
  });
  return [
    ...(isCarriedOut(control)
      ? [['§4.1', `${control.seen[0].asked.title} is accepted`] as const]
      : []),
    ...ofReads,
    ...passbacks.flatMap(({ asked, answer }): Found[] =>
      isCarriedOut(answer) ? [['§4.2', `${asked.title} is accepted`]] : [],
    ),
  ];
}

/** §4.1, §4.2: `data` of a success. */
function dataBreaks({ whole, named, written, all }: Evidence, shape: Platform): Found[] {
  const nameless = all.filter((answer) => {
    const { union_id } = dataOf(answer);
    return isCarriedOut(answer) && (typeof union_id !== 'string' || union_id === '');
  });
  const names = ['basic_info', 'extension_info', 'login_device_info'];
  const missing = whole === null ? [] : names.filter((name) => !Object.hasOwn(dataOf(whole), name));
  // The spec fixes these types; the file says how a platform differs.
  const spec = { ...shape, empty_object: 'object', values: 'text' } as const;
  const warnings = [whole, named].flatMap((answer) =>
    answer === null ? [] : readDataWarnings(dataOf(answer), answer.asked.request.infoNames, spec),
  );
  return [
    ...nameless.map(
      ({ asked }) => [asked.request.endpoint.section, 'data without union_id'] as const,
    ),
    ...missing.map((name) => ['§4.1', `a read of the whole record without ${name}`] as const),
    ...warnings.map((warning) => ['§4.1', warning] as const),
    ...(written !== null && isCarriedOut(written) && !isObject(written.members.data)
      ? [['§4.2', '"data" of a passback is not an object'] as const]
      : []),
  ];
}
