import { type RunFolder, resolveText, type TakenStep } from '../store/index.ts';

const maxLines = 12;
const maxCharacters = 2_000;

/** How the last script of a run failed, with the end of its output; null if none was run, or it succeeded. */
export function scriptCrash({ objects }: RunFolder, steps: readonly TakenStep[]): string | null {
  const last = steps.findLast(({ performed }) => performed.action === 'Execute Script');
  if (last === undefined || last.finished.status === 'ok') return null;
  return `its script ended with an error (${last.finished.status}):\n${endOfOutput(objects, last, maxLines)}`;
}

/** The last lines that a step's script printed. */
export function endOfOutput(
  objects: RunFolder['objects'],
  { finished }: Pick<TakenStep, 'finished'>,
  lines: number,
): string {
  const all = resolveText(objects, finished.observation).trimEnd().split('\n');
  return all.slice(-lines).join('\n').slice(-maxCharacters);
}
