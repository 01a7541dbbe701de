import type { Finding, Verdict } from '../../../signing/verify/verify-signature.js';
import { CheckFailedError } from '../../report-error.js';
import { type Comparison, comparisonRecord, showComparison } from './compare-theirs.js';
import { stagesOf, visibleStages } from './print-explanation.js';

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
