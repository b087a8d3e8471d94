import { type RunFolder, resolveText, type TakenStep } from '../store/index.ts';

const maxLines = 12;
const maxCharacters = 2_000;

/** How the last script of a run failed, with the end of its output; null if none was run, or it succeeded. */
export function scriptCrash({ objects }: RunFolder, steps: readonly TakenStep[]): string | null {
  const last = steps.findLast(({ performed }) => performed.action === 'Execute Script');
  if (last === undefined || last.finished.status === 'ok') return null;
  const lines = resolveText(objects, last.finished.observation).trimEnd().split('\n').slice(-maxLines);
  return `its script ended with an error (${last.finished.status}):\n${lines.join('\n').slice(-maxCharacters)}`;
}
