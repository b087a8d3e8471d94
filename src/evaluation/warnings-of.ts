import { existsSync } from 'node:fs';
import type { RunEvaluation, StepWarning } from '../schema/index.ts';
import { stepWarnings } from '../statistics/index.ts';
import type { RunFolder } from '../store/index.ts';
import { readStory } from './read-story.ts';

/** What people should be warned of at the steps of a run. @throws UserError as `readStory` */
export function warningsOf(folder: RunFolder, evaluation: RunEvaluation): StepWarning[] {
  if (!existsSync(folder.tracePath)) return [];
  return stepWarnings(readStory(folder, evaluation.grades), evaluation);
}
