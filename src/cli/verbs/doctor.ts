import { styleText } from 'node:util';
import type { DoctorCheck } from '../../lib/doctor-check.ts';
import { UserError } from '../../lib/errors.ts';
import { chooseExecutor, type WorkerChecks } from '../../runs/index.ts';
import { checkSandbox } from '../../sandbox/index.ts';
import { checkCacheDisk, checkInstaller, checkKaggle, checkPython } from '../../tasks/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { commandElsewhere } from '../execute-there.ts';
import { readExperiment } from '../experiment-flags.ts';
import { checkExperimentsFolder } from '../experiments-folder.ts';
import { settingsName } from '../settings.ts';
import { plain } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  on?: string;
  file?: string;
}

const signs = {
  ok: styleText('green', '✓'),
  warning: styleText('yellow', '!'),
  missing: styleText('red', '✗'),
};

export const doctor: Verb = {
  arguments: [],
  flags: [
    {
      flags: '--on <where>',
      description:
        'check an executor instead: a node, with a job (slurm), or a Redis and its workers (redis, by MLAB_REDIS_URL, or redis://…)',
    },
    {
      flags: '--file <experiment>',
      description: 'experiment file with the executor settings of the job',
    },
  ],
  negative: 'something is missing that every run needs',
  examples: [
    ['mlab doctor', 'check sandbox, Python, GPU, credentials and disk'],
    ['mlab doctor --on slurm --file experiment.yaml', 'check a node that its jobs would get'],
    ['mlab doctor --on redis://queue.example:6379', 'check a Redis and the versions of its workers'],
  ],
  async run(context, _, options: Options) {
    const there = options.on === undefined ? null : await checkThere(context, options.on, options.file);
    const findings = there?.findings ?? (await checkHere(context));
    const lines = findings.map(({ name, state, detail, fix }) => {
      const line = `${signs[state]} ${name.padEnd(12)} ${plain(detail)}`;
      return fix === null ? line : `${line}\n${' '.repeat(15)}→ ${plain(fix)}`;
    });
    const isMissing = findings.some(({ state }) => state === 'missing');
    const place = there === null ? '' : `On ${plain(there.place)}:\n`;
    return {
      text: `${place}${lines.join('\n')}\n\n${isMissing ? 'Something is missing. The arrows show how to fix it.' : 'Ready.'}`,
      json: { ...there, findings },
      exitCode: isMissing ? exitCodes.negative : exitCodes.ok,
    };
  },
};

/** @throws UserError if no machine there can be checked */
async function checkThere(
  context: Context,
  on: string,
  file: string | undefined,
): Promise<WorkerChecks | null> {
  const kind = chooseExecutor(on, null);
  if (kind === null) return null;
  if (kind.check === undefined)
    throw new UserError(
      'no_check',
      `The machines of ${kind.name} can't be checked from here.`,
      'Run mlab doctor on them.',
    );
  const { variables, signal, log, folders, version } = context;
  const settings = readExperiment(file, {}).executor;
  const folder = folders.experiments;
  const command = commandElsewhere(context);
  return await kind.check(on, { settings, command, variables, signal, log, folder, version });
}

async function checkHere({ variables, folders, signal, settings }: Context): Promise<DoctorCheck[]> {
  const configuration = settings.path ?? `none (${settingsName} in this folder or above it)`;
  return [
    { name: 'Settings', state: 'ok', detail: configuration, fix: null },
    { name: 'Node', state: 'ok', detail: process.version, fix: null },
    await checkPython({ variables, signal }),
    await checkInstaller(folders.cache, { variables, signal }),
    ...(await checkSandbox(variables)),
    checkKaggle(variables),
    await checkCacheDisk(folders.cache),
    checkExperimentsFolder(folders.experiments),
  ];
}
