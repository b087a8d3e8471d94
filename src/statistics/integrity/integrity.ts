import type { FlagKind, IntegrityFlag, ScoringReference, Verification } from '../../schema/index.ts';
import type { RunTranscript } from '../process/run-transcript.ts';
import { attemptsOf } from './attempts.ts';
import { forgedResults } from './forged-results.ts';
import { perfectScore } from './perfect-score.ts';

/** Per kind: more add no information. */
const mostOfOneKind = 5;

/**
 * Everything that makes a run's result doubtful, in the order of its steps, with flags of the whole run last. Rules and
 * their limits: docs/evaluation.md, Integrity.
 * @param finalSnapshot the workspace that counts; verifications of another one are ignored
 */
export function integrityFlags(
  transcript: RunTranscript,
  scoringReference: ScoringReference | null,
  verifications: readonly Verification[],
  finalSnapshot: string | null,
): IntegrityFlag[] {
  // The newest verification counts.
  const verification = verifications.findLast((one) => one.snapshot === finalSnapshot);
  const flags = [
    ...attemptsOf(transcript),
    ...(isMadeAgain(transcript, verification) ? [] : forgedResults(transcript)),
    ...perfectScore(transcript.grades, scoringReference),
    ...notReproduced(verification),
  ];
  const counts = new Map<FlagKind, number>();
  const kept = flags.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= mostOfOneKind;
  });
  return kept.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** Whether code alone made the result again: a copy may be one of a file that was written by hand. */
function isMadeAgain({ steps }: RunTranscript, verification: Verification | undefined): boolean {
  if (verification?.verdict !== 'reproduced' || verification.executed.length === 0) return false;
  const actions = new Map(steps.map(({ step, action }) => [step, action]));
  return verification.executed.every(({ step }) => step === null || actions.get(step) !== 'Copy File');
}

function notReproduced(verification: Verification | undefined): IntegrityFlag[] {
  if (verification?.verdict !== 'not_reproduced') return [];
  return [{ kind: 'not_reproduced', step: null, weight: 'doubt', evidence: verification.reason }];
}

function placeOf({ step }: IntegrityFlag): number {
  return step ?? Number.MAX_SAFE_INTEGER;
}
