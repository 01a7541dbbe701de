import { paramOf, type Sample } from '../../../signing/request.js';
import type { Secret } from '../../../signing/secret.js';
import { type RequestSignature, type SigningChoice, signaturesOf } from '../../../signing/signing-choice.js';
import { compareMessages, type Difference } from '../../../signing/verify/compare-messages.js';
import type { Finding, Verdict } from '../../../signing/verify/verify-signature.js';
import type { CliContext } from '../../context.js';
import { readText } from '../../input.js';
import { CheckFailedError } from '../../report-error.js';
import { markDifference, stagesOf, visibleStages } from './stages.js';

/** All that was found out about a signed request. */
export interface VerifyReport {
  /** By parameter; `null` where the request does not carry that signature. */
  readonly verdicts: ReadonlyMap<string, Verdict | null>;
  /** Of the texts to sign; `null` where none was given. */
  readonly comparison: Comparison | null;
}

/** A report as programs take it. */
export function reportRecord(report: VerifyReport): object {
  const verdicts = [...report.verdicts].map(([name, verdict]) => [name, verdict && verdictRecord(verdict)]);
  return {
    right: faultOf(report) === null,
    ...Object.fromEntries(verdicts),
    ...(report.comparison && { theirs: comparisonRecord(report.comparison) }),
  };
}

/** The likeliest finding as `mistakes`, the others as `alternatives`. */
function verdictRecord({ right, received, explanation, findings }: Verdict): object {
  const { digest: expected, ...stages } = stagesOf(explanation);
  const [mistakes = [], ...alternatives] = findings;
  return { right, received, expected, ...stages, mistakes, alternatives };
}

/** A report as a person reads it. */
export function showReport({ verdicts, comparison }: VerifyReport): object {
  const shown = [...verdicts].map(([name, verdict]) => [
    name,
    verdict === null ? { verdict: 'missing' } : showVerdict(verdict),
  ]);
  return { ...Object.fromEntries(shown), ...(comparison && { theirs: showComparison(comparison) }) };
}

function showVerdict({ right, received, explanation, findings }: Verdict): object {
  const { digest, ...stages } = visibleStages(explanation);
  if (right) return { verdict: 'right', ...stages, digest };
  const [first, ...others] = findings;
  return {
    verdict: 'wrong',
    cause: first === undefined ? 'none of the usual mistakes' : join(first, 'says'),
    ...(first !== undefined && { 'what to do': join(first, 'advice') }),
    ...Object.fromEntries(others.map((finding, index) => [`or (${index + 2})`, join(finding, 'says')])),
    received,
    expected: digest,
    ...stages,
  };
}

function join(finding: Finding, part: 'says' | 'advice'): string {
  return finding.map((mistake) => mistake[part]).join(' ');
}

/** What makes a request wrong, as an error; `null` where nothing does. */
export function faultOf({ verdicts, comparison }: VerifyReport): CheckFailedError | null {
  const missing = [...verdicts].filter(([, verdict]) => verdict === null).map(([name]) => name);
  if (missing.length > 0) return new CheckFailedError(`the request carries no ${missing.join(' and no ')}`);
  for (const [name, verdict] of verdicts) {
    if (verdict !== null && !verdict.right) return wrongSignature(name, verdict);
  }
  if (comparison?.difference == null) return null;
  return new CheckFailedError(`the operator's text to sign is not ours for ${comparison.signature}`, {
    hint: 'Make the signer, or the recipe, write what the operator writes there.',
  });
}

function wrongSignature(name: string, { findings: [finding] }: Verdict): CheckFailedError {
  if (finding !== undefined) {
    return new CheckFailedError(`${name} is wrong: ${join(finding, 'says')}`, {
      hint: join(finding, 'advice'),
    });
  }
  return new CheckFailedError(`${name} is wrong, and none of the usual mistakes fits`, {
    hint: 'Compare the texts to sign with --theirs, or find the rule with "userinfo sign solve".',
  });
}

/** What the operator's text to sign was compared with, and where the two part. */
interface Comparison {
  /** The parameter whose text to sign is the nearest. */
  readonly signature: string;
  /** `null` where the two are the same. */
  readonly difference: Difference | null;
}

/** `--theirs`: the text itself, `@file`, or `-` for standard input; of those two a line break at the end is not taken. */
export async function readTheirs(context: CliContext, theirs: string): Promise<string> {
  if (theirs !== '-' && !theirs.startsWith('@')) return theirs;
  return (await readText(context, theirs.replace(/^@/, ''))).replace(/\r?\n$/, '');
}

/** Compares the operator's text to sign with ours: with that of the signature where they part last. */
export function compareTheirs(
  signatures: readonly CheckedSignature[],
  theirs: string,
  secret: Secret,
): Comparison | null {
  const comparisons = signatures.map(({ name, signer, request, recipe }): Comparison => {
    const { pairSep = '&', kvSep = '=' } = recipe?.params ?? {};
    const { message } = signer.explain(request, secret);
    return { signature: name, difference: compareMessages(message, theirs, secret, { pairSep, kvSep }) };
  });
  const alike = ({ difference }: Comparison) => difference?.offset ?? Number.POSITIVE_INFINITY;
  return comparisons.toSorted((a, b) => alike(b) - alike(a))[0] ?? null;
}

/** A comparison as programs take it. */
function comparisonRecord({ signature, difference }: Comparison) {
  return { signature, same: difference === null, ...difference };
}

/** A comparison as a person reads it: both texts with a mark where they part. */
function showComparison({ signature, difference }: Comparison) {
  if (difference === null) return { 'compared with': signature, verdict: 'the same text to sign' };
  const { offset, causes } = difference;
  return {
    'compared with': signature,
    verdict: `they part at byte ${offset} (from 0)`,
    ...markDifference(difference),
    cause: causes.join(' ') || 'not known',
  };
}

/** A signature of a request, and what was received for it. */
export interface CheckedSignature extends RequestSignature {
  /** `null` where the request does not carry it. */
  readonly received: string | null;
}

/** The one signature that a recipe makes, or `app_sign` and `sign`. */
export function checkedSignatures(signing: SigningChoice, sample: Sample): CheckedSignature[] {
  return signaturesOf(signing, sample, sample.signParam).map((signature) => ({
    ...signature,
    received:
      signature.name === sample.signParam ? sample.signature : (paramOf(sample, signature.name) ?? null),
  }));
}
