import type { Verdict } from '../schema/index.ts';

/** Verdicts of verifications, in words. */
export const verdictWords: Record<Verdict, string> = {
  reproduced: 'reproduced',
  within_noise: 'within noise',
  not_reproduced: 'not reproduced',
  could_not_run: 'could not run',
  nothing_to_verify: 'nothing to verify',
};
