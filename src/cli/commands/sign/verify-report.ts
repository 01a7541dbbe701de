import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { compareMessages, type Difference } from '../../../lab/verify/compare-messages.js';
import {
  type Finding,
  sentencesOf,
  type Verification,
} from '../../../lab/verify/verify-signature.js';
import { CheckFailedError } from '../../errors.js';
import { markDifference, stagesOf } from './explain.js';

export interface VerifyReport {
  /** The profile of `-p`. */
  readonly profile: string | undefined;
  /** The rule that the request was checked by, such as `the preset taobao`. */
  readonly rule: string;
  /** By parameter; `null` if the request has no such signature. */
  readonly verdicts: ReadonlyMap<string, Verification | null>;
  /** Comparison of the texts to sign; `null` if the operator's is not given. */
  readonly comparison: Comparison | null;
}

/** A report for programs. */
export function reportRecord(report: VerifyReport): object {
  const { rule, verdicts, comparison } = report;
  const record: Record<string, unknown> = { right: faultOf(report) === null, rule };
  for (const [name, verdict] of verdicts) record[name] = verdict && verdictRecord(verdict);
  if (comparison !== null) {
    const { signature, difference } = comparison;
    record.theirs = { signature, same: difference === null, ...difference };
  }
  return record;
}

/** The likeliest finding is `mistakes`, the others are `alternatives`. */
function verdictRecord({ right, received, explanation, findings }: Verification): object {
  const { digest: expected, ...stages } = stagesOf(explanation, false);
  const [mistakes = [], ...alternatives] = findings;
  return { right, received, expected, ...stages, mistakes, alternatives };
}

/** A report for a person. */
export function showReport({ rule, verdicts, comparison }: VerifyReport): object {
  const shown: Record<string, object> = {};
  for (const [name, verdict] of verdicts) shown[name] = showVerdict(verdict, rule);
  if (comparison !== null) shown.theirs = showComparison(comparison);
  return shown;
}

function showVerdict(verification: Verification | null, rule: string): object {
  if (verification === null) return { verdict: 'missing' };
  const { right, received, explanation, findings } = verification;
  const { digest, ...stages } = stagesOf(explanation, true);
  if (right) return { verdict: 'right', rule, ...stages, digest };
  return { verdict: 'wrong', ...showFindings(findings), received, expected: digest, ...stages };
}

/** The likeliest cause with what to do about it, then the others. */
function showFindings([first, ...others]: readonly Finding[]): object {
  if (first === undefined) return { cause: 'no common mistake' };
  const alternatives = others.map((finding, index) => [
    `or (${index + 2})`,
    sentencesOf(finding, 'says'),
  ]);
  return {
    cause: sentencesOf(first, 'says'),
    'what to do': sentencesOf(first, 'advice'),
    ...Object.fromEntries(alternatives),
  };
}

/** The error for a wrong request; `null` if it is right. */
export function faultOf(report: VerifyReport): CheckFailedError | null {
  const { verdicts, comparison } = report;
  const missing = [...verdicts].filter(([, verdict]) => verdict === null).map(([name]) => name);
  if (missing.length > 0) {
    return new CheckFailedError(`the request has no ${missing.join(' and no ')}`);
  }
  for (const [name, verdict] of verdicts) {
    if (verdict !== null && !verdict.right) return wrongSignature(name, verdict, report);
  }
  if (comparison?.difference == null) return null;
  return new CheckFailedError(
    `the operator's text to sign differs from ours for ${comparison.signature}`,
    { hint: 'Change the signer or the recipe so that it writes the same text.' },
  );
}

function wrongSignature(
  name: string,
  { findings: [finding], explanation }: Verification,
  { profile, verdicts, comparison }: VerifyReport,
): CheckFailedError {
  if (finding !== undefined) {
    return new CheckFailedError(`${name} is wrong: ${sentencesOf(finding, 'says')}`, {
      hint: sentencesOf(finding, 'advice'),
    });
  }
  const message = `${name} is wrong, and no common mistake explains it`;
  if (comparison?.signature === name && comparison.difference === null) {
    return new CheckFailedError(message, { hint: textsAgree(explanation.message) });
  }
  return new CheckFailedError(message, {
    hint: unexplainedHint([...verdicts.values()]),
    commands: [solveCommand(profile)],
  });
}

function unexplainedHint(verdicts: readonly (Verification | null)[]): string {
  const compare = "Compare the operator's text to sign with yours (--theirs), or find the rule:";
  const isNoneExplained = verdicts.every(
    (verdict) => verdict !== null && !verdict.right && verdict.findings.length === 0,
  );
  if (!isNoneExplained || verdicts.length < 2) return compare;
  return (
    'Both signatures are wrong: another secret is a likely cause. ' +
    `Compare its first and its last character, and its length.\n${compare}`
  );
}

function solveCommand(profile: string | undefined): string {
  if (profile === undefined) return 'userinfo sign solve -';
  return `userinfo sign solve - -p ${quoteWhereNeeded(profile)}`;
}

/** What is left where both sign the same text. */
function textsAgree(signedText: string): string {
  const secretOrDigest =
    'The texts to sign agree: so the secret differs, or the digest. ' +
    'Compare the first and the last character of the secret, and its length. ' +
    'Digest a text such as "a" on both sides.';
  const isAscii = /^[\0-\x7f]*$/.test(signedText);
  if (isAscii) return secretOrDigest;
  return `${secretOrDigest} Or the charset differs: send it once with ASCII values alone.`;
}

/** The operator's text to sign compared with ours. */
interface Comparison {
  /** The signature whose text to sign is the most similar. */
  readonly signature: string;
  /** `null` if both texts are the same. */
  readonly difference: Difference | null;
}

/**
 * Compares the operator's text to sign with the text to sign of each signature, and returns the one
 * with the longest common beginning.
 */
export function compareTheirs(
  signed: readonly ({ readonly name: string } & Parameters<typeof compareMessages>[0])[],
  theirs: string,
): Comparison | null {
  const comparisons = signed.map(
    (ours): Comparison => ({ signature: ours.name, difference: compareMessages(ours, theirs) }),
  );
  const alike = ({ difference }: Comparison) => difference?.offset ?? Number.POSITIVE_INFINITY;
  return comparisons.toSorted((a, b) => alike(b) - alike(a))[0] ?? null;
}

function showComparison({ signature, difference }: Comparison) {
  if (difference === null) return { 'compared with': signature, verdict: 'the same text to sign' };
  const { offset, causes } = difference;
  return {
    'compared with': signature,
    verdict: `they differ at byte ${offset} (0-based)`,
    ...markDifference(difference),
    cause: causes.join(' ') || 'unknown',
  };
}
