import type { Plan } from '../schema/index.ts';
import { currentGrades, type RunFolder, recordedStates, statesOfTree } from '../store/index.ts';

/** Whether a finished run has the grades that its plan asks for. */
export function isGraded(folder: RunFolder, which: Plan['grade']): boolean {
  if (which === 'none') return true;
  const states = which === 'all' ? statesOfTree(folder) : recordedStates(folder);
  const graded = currentGrades(folder.readGrades().grades, states);
  return which === 'all' ? graded.length === states.length : graded.some(({ final }) => final);
}
