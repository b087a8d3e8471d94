import { evaluationsOf, readTranscript } from '../../evaluation/index.ts';
import { addEntries, collectEntries, fingerprintOf } from '../../experience/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { ExperienceEntry, RunEvaluation, TaskFingerprint } from '../../schema/index.ts';
import type { Experiment } from '../../store/index.ts';
import { loadTask } from '../../tasks/index.ts';
import type { Context } from '../context.ts';
import { type StoreFlags, storeFlag, storePath } from '../experience-store.ts';
import { locateExperiments } from '../locate.ts';
import { counted } from '../table.ts';
import type { Verb } from '../verb.ts';

export const experienceAdd: Verb = {
  onlyReads: true,
  arguments: [{ name: '<experiments...>', description: 'experiments, or patterns such as start-*' }],
  flags: [storeFlag],
  details:
    'Reads the traces of finished runs. Each change to the script that was run becomes an entry with its result. Entries are\n' +
    'only appended, and adding a run again changes nothing.',
  examples: [
    ['mlab experience add start-1', 'collect from one experiment'],
    ['mlab run --suite starter --experience experiments', 'runs that use what others found'],
  ],
  async run(context, names, flags: StoreFlags) {
    const path = storePath(context, flags);
    const fingerprints = new Map<string, TaskFingerprint | null>();
    const found: ExperienceEntry[] = [];
    let runs = 0;
    for (const experiment of locateExperiments(context, names)) {
      const { evaluations } = await evaluationsOf(context, [experiment]);
      for (const evaluation of evaluations.filter(({ status }) => status === 'finished')) {
        context.signal.throwIfAborted();
        const fingerprint = fingerprintFor(context, evaluation.task, fingerprints);
        const entries = fingerprint === null ? null : entriesOf(experiment, evaluation, fingerprint);
        if (entries === null) continue;
        runs += 1;
        found.push(...entries);
      }
    }
    const added = addEntries(path, found);
    const text = `${path}: ${added} ${added === 1 ? 'entry' : 'entries'} added, from ${counted(runs, 'finished run')}; ${found.length - added} were there already.`;
    return { text, json: { file: path, runs, found: found.length, added } };
  },
};

function entriesOf(
  experiment: Experiment,
  evaluation: RunEvaluation,
  fingerprint: TaskFingerprint,
): ExperienceEntry[] | null {
  const folder = experiment.runFolder(evaluation.run);
  const record = folder.readRecord();
  if (record === null) return null;
  const transcript = readTranscript(folder, evaluation.grades);
  const { started, updated: ended, spec } = record;
  const { experiment: planned, agent } = spec;
  return collectEntries({ fingerprint, transcript, evaluation, experiment: planned, agent, started, ended });
}

/** Null if there is no such task, which is logged once: nothing could be compared with it. */
function fingerprintFor(
  context: Context,
  id: string,
  known: Map<string, TaskFingerprint | null>,
): TaskFingerprint | null {
  const before = known.get(id);
  if (before !== undefined) return before;
  let fingerprint: TaskFingerprint | null = null;
  try {
    fingerprint = fingerprintOf(loadTask(id, context.folders.tasks));
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    context.log(`runs on ${id} are left out: ${error.message}`);
  }
  known.set(id, fingerprint);
  return fingerprint;
}
