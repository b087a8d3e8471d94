import type { Workspace } from '../common/workspace.ts';
import { replaceModel } from './model-writing/fill.ts';
import type { Study } from './study.ts';
import type { Outcome, TrialRunner } from './trial.ts';

/** Writes automl's model beside a working starter, and takes it if it measures better by more than the noise. */
export async function writeModel(
  workspace: Workspace,
  runner: TrialRunner,
  study: Study,
  starter: { source: string; outcome: Outcome & { kind: 'measured' } },
): Promise<void> {
  const { noiseTest } = study;
  if (noiseTest === null || workspace.ended) return;
  // The two are measured on different rows, so the effect of another split is noise here.
  const filling = await replaceModel(
    workspace,
    runner,
    starter,
    Math.max(noiseTest.noise ?? 0, noiseTest.threshold),
  );
  if (filling.kind === 'filled' && filling.outcome.kind === 'measured')
    study.adopt(filling.source, filling.sentence, filling.outcome, filling.isStricter);
}
