import { typeName } from '../../core/contract/members.js';
import { readDataWarnings } from '../../core/contract/read-data.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Platform } from '../../core/platform/platform.js';
import { isObject } from '../../core/support/json.js';
import type { Evidence } from './evidence.js';
import { dataOf, isAlike, isCarriedOut, type ProbeReply } from './probe-reply.js';
import { doubtOfControl } from './refusals.js';
import { type ReadVariantName, readVariants } from './requests.js';

/** A fixed rule of the spec that answers break: its section, and the number of answers. */
export interface Violation {
  readonly section: string;
  readonly what: string;
  readonly answers: number;
}

/**
 * Finds the rules that the answers break. `shape` is how the platform writes what the spec leaves
 * open.
 */
export function findViolations(evidence: Evidence, shape: Platform): Violation[] {
  const violations = new ViolationList();
  for (const answer of evidence.all) addEnvelopeViolations(violations, answer);
  addParameterViolations(violations, evidence);
  addDataViolations(violations, evidence, shape);
  return violations.bySection;
}

/** Counts the answers that break each rule. */
class ViolationList {
  readonly #violations = new Map<string, Violation>();

  add(section: string, what: string): void {
    const answers = (this.#violations.get(section + what)?.answers ?? 0) + 1;
    this.#violations.set(section + what, { section, what, answers });
  }

  get bySection(): Violation[] {
    const order = (a: Violation, b: Violation) =>
      Number(a.section > b.section) - Number(a.section < b.section);
    return [...this.#violations.values()].toSorted(order);
  }
}

/** §1, §7.1 */
function addEnvelopeViolations(violations: ViolationList, answer: ProbeReply): void {
  const { asked, code, httpStatus, members } = answer;
  if (code === null) {
    violations.add('§1', `no envelope, but HTTP ${httpStatus}: ${asked.title}`);
    return;
  }
  const { msg, data } = members;
  const isDone = isCarriedOut(answer);
  const where = isDone ? 'a success' : 'a refusal';
  if (!Number.isInteger(members.code)) violations.add('§1', '"code" is text, not an integer');
  if (typeof msg !== 'string')
    violations.add('§1', `"msg" of ${where} ${describeType(msg)}, not text`);
  if (!isObject(data))
    violations.add('§1', `"data" of ${where} ${describeType(data)}, not an object`);
  if (isDone && code !== resultCode.ok) {
    violations.add('§7.1', `a success has the code ${code}, not 200`);
  }
  if (code === resultCode.ok && typeof msg === 'string' && msg !== 'ok') {
    violations.add('§7.1', '"msg" of a success is not "ok"');
  }
}

function describeType(value: unknown): string {
  if (value === undefined) return 'is missing';
  return `is ${typeName(value)}`;
}

/** The sections of the rules that a read with one of these faults breaks. */
const sections: Partial<Record<ReadVariantName, string>> = {
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
function addParameterViolations(violations: ViolationList, evidence: Evidence): void {
  const { control, faulty, issued, passbacks } = evidence;
  if (isCarriedOut(control)) violations.add('§4.1', `${control.seen[0].asked.title} is accepted`);
  // Not by a gateway or a limit, which answers all alike.
  const isTold = doubtOfControl(evidence) === null && !isAlike(faulty.get('otherPath'), control);
  for (const [name, answer] of faulty) {
    const section = sections[name];
    const last = issued.get(name) ?? answer;
    if (section === undefined || last === null) continue;
    const { title } = readVariants[name];
    if (isCarriedOut(last)) {
      violations.add(section, `${title} is accepted`);
      continue;
    }
    if (isTold && isAlike(last, control)) {
      violations.add(section, `${title} is not refused before the code is looked up`);
    }
  }
  for (const { asked, answer } of passbacks) {
    if (isCarriedOut(answer)) violations.add('§4.2', `${asked.title} is accepted`);
  }
}

const partsOfRecord = ['basic_info', 'extension_info', 'login_device_info'];

/** §4.1, §4.2: `data` of a success. */
function addDataViolations(violations: ViolationList, evidence: Evidence, shape: Platform): void {
  const { whole, named, written, all } = evidence;
  for (const answer of all) {
    if (!isCarriedOut(answer)) continue;
    const { union_id } = dataOf(answer);
    if (typeof union_id === 'string' && union_id !== '') continue;
    violations.add(answer.asked.request.endpoint.section, 'data without union_id');
  }
  // The spec fixes these types; the file says how a platform differs.
  const spec = { ...shape, empty_object: 'object', values: 'text' } as const;
  for (const read of [whole, named]) {
    if (read === null) continue;
    const data = dataOf(read);
    for (const name of partsOfRecord) {
      if (read !== whole || Object.hasOwn(data, name)) continue;
      violations.add('§4.1', `a read of the whole record without ${name}`);
    }
    for (const warning of readDataWarnings(data, read.asked.request.infoNames, spec)) {
      violations.add('§4.1', warning);
    }
  }
  if (written !== null && isCarriedOut(written) && !isObject(written.members.data)) {
    violations.add('§4.2', '"data" of a passback is not an object');
  }
}
