import { withPackageHint } from '../lib/missing-package.ts';
import { type RunFolder, resolveText, type TakenStep } from '../store/index.ts';

const maxLines = 40;
/** Of a long traceback, whose first frames are in the script itself. */
const firstLines = 16;
const maxCharacters = 6_000;

/** How the last script of a run failed, with the end of its output; null if none was run, or it succeeded. */
export function scriptCrash({ objects }: RunFolder, steps: readonly TakenStep[]): string | null {
  const last = steps.findLast(({ performed }) => performed.action === 'Execute Script');
  if (last === undefined || last.finished.status === 'ok') return null;
  const failure = failureIn(linesOf(objects, last));
  return withPackageHint(`its script ended with an error (${last.finished.status}):\n${failure}`);
}

/** The last traceback, without its middle if it is long; the last lines if there is none. */
function failureIn(all: readonly string[]): string {
  const start = all.findLastIndex((line) => line.startsWith('Traceback '));
  if (start === -1) return lastLines(all, maxLines);
  const traceback = all.slice(start);
  const left = traceback.length - maxLines;
  if (left <= 0) return traceback.join('\n').slice(-maxCharacters);
  const first = traceback
    .slice(0, firstLines)
    .join('\n')
    .slice(0, maxCharacters / 2);
  const last = traceback
    .slice(firstLines + left)
    .join('\n')
    .slice(-maxCharacters / 2);
  return `${first}\n  (${left} more lines)\n${last}`;
}

/** The last lines that a step's script printed. */
export function endOfOutput(
  objects: RunFolder['objects'],
  step: Pick<TakenStep, 'finished'>,
  lines: number,
): string {
  return lastLines(linesOf(objects, step), lines);
}

function linesOf(objects: RunFolder['objects'], { finished }: Pick<TakenStep, 'finished'>): string[] {
  return resolveText(objects, finished.observation).trimEnd().split('\n');
}

function lastLines(all: readonly string[], most: number): string {
  const left = all.length - most;
  const shown = all.slice(-most).join('\n').slice(-maxCharacters);
  return left > 0 ? `(${left} lines before)\n${shown}` : shown;
}
