import { tooSmallForSearch } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import type { RunSpec, TraceEvent } from '../schema/index.ts';
import { type Experiment, type RunFolder, readTraceSync, resolveText } from '../store/index.ts';
import type { Context } from './context.ts';
import { counted, duration } from './table.ts';

/** In how many runs automl found its budget too small for a search, and what to do; empty if in none. */
export function missedSearches(experiment: Experiment, { variables }: Pick<Context, 'variables'>): string {
  const runs = experiment.plan.runs.filter(({ agent }) => agent === 'automl');
  const missed = runs.filter((run) => hasNoSearch(experiment.runFolder(run.id)));
  const [first] = missed;
  if (first === undefined) return '';
  const times = `${missed.length} of ${counted(runs.length, 'run')}`;
  return `\n\nautoml made no search in ${times}: ${whyAndWhat(first, variables.npm_lifecycle_event === 'start')}`;
}

/** Fewer steps leave none for a search, however much time there is. */
const fewSteps = 15;

function whyAndWhat({ limits }: RunSpec, isStart: boolean): string {
  const { wall_seconds: seconds, steps } = limits;
  const more = steps < fewSteps ? `--steps ${steps * 4}` : `--wall-seconds ${seconds * 4}`;
  const next = `${isStart ? 'npm start --' : 'the same command with'} ${more} --name longer`;
  const budget = `${duration(seconds).replace('.0 s', ' s')} and ${counted(steps, 'step')}`;
  return `on this machine, its budget of ${budget} was too small for one. Try ${next}`;
}

/** Only a short trace is read: a run without a search has few steps. */
function hasNoSearch(folder: RunFolder): boolean {
  try {
    if (!folder.hasTrace() || (folder.readRecord()?.steps ?? 0) > fewSteps) return false;
    return readTraceSync(folder.tracePath).events.some((event) => saysSo(event, folder));
  } catch (error) {
    // Damaged: whoever reads it for the report has said so.
    if (UserError.isInstance(error)) return false;
    throw error;
  }
}

function saysSo(event: TraceEvent, { objects }: RunFolder): boolean {
  if (event.kind !== 'note') return false;
  const { Decision: decision } = event.entries;
  return decision !== undefined && resolveText(objects, decision).endsWith(tooSmallForSearch);
}
