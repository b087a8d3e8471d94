import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { writeFileAtomically } from '../../../lib/atomic-file.ts';
import { hasCode, UserError } from '../../../lib/errors.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import { SlurmSettings } from '../../../schema/index.ts';
import { hasEnded } from '../arrays/job-state.ts';
import type { CheckPlace, WorkerChecks } from '../executor-kind.ts';
import { arrayOptions } from './batch-script.ts';
import { SlurmCommands, unreachableSlurm } from './slurm-commands.ts';

const pollMs = 1_000;
const maxBytes = 2 ** 22;
const Told = z.object({
  findings: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['ok', 'warning', 'missing']),
      detail: z.string(),
      fix: z.string().nullable(),
    }),
  ),
});

/** Has a job execute `mlab doctor`. */
export async function checkNode({
  settings: { slurm },
  command,
  variables,
  log,
  signal,
  folder,
}: CheckPlace): Promise<WorkerChecks> {
  const settings = slurm ?? SlurmSettings.parse({});
  const commands = new SlurmCommands(variables);
  mkdirSync(folder, { recursive: true });
  const place = mkdtempSync(join(folder, '.doctor-'));
  try {
    mkdirSync(join(place, 'logs'));
    const script = join(place, 'doctor.sh');
    writeFileAtomically(
      script,
      doctorScript(place, settings.command ?? command.map(shellWord).join(' '), settings),
    );
    const array = { name: 'mlab-doctor', folder: place, count: 1, parallel: undefined, after: undefined };
    const id = await commands.submit([...arrayOptions(array, settings, variables), '--mem=512M', script]);
    if (id === null) throw unreachableSlurm(commands.trouble);
    await ended(commands, id, { log, signal });
    return readChecks(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function ended(
  commands: SlurmCommands,
  id: string,
  { log, signal }: Pick<CheckPlace, 'log' | 'signal'>,
): Promise<void> {
  let told = '';
  try {
    for (;;) {
      const state = (await commands.queue())?.get(`${id}_0`);
      if (state === undefined || hasEnded(state)) return;
      const now = `Slurm ${id}_0: ${[state.state, state.reason, state.nodes].filter(Boolean).join(', ')}`;
      if (now !== told) log(now);
      told = now;
      await sleep(pollMs, undefined, { signal });
    }
  } catch (error) {
    await commands.cancel([id]);
    throw error;
  }
}

function readChecks(place: string): WorkerChecks {
  const text = textOf(join(place, 'found.json'));
  const printed = textOf(join(place, 'logs', '0.log')).trim();
  const node = textOf(join(place, 'node')).trim();
  try {
    return { place: node, ...Told.parse(JSON.parse(text)) };
  } catch (error) {
    throw new UserError(
      'no_answer',
      `mlab doctor printed nothing on ${node || 'a node'}${printed === '' ? '.' : `:\n${printed.slice(-1000)}`}`,
      'Nodes must see mlab and the experiments at the same paths; executor.slurm.preamble and .command set how mlab starts there.',
      { cause: error },
    );
  }
}

function textOf(path: string): string {
  try {
    return readRegularFile(path, maxBytes).toString('utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

function doctorScript(place: string, command: string, { preamble }: SlurmSettings): string {
  return `#!/bin/bash
${preamble}
folder=${shellWord(place)}
echo "$SLURMD_NODENAME" > "$folder/node"
${command} doctor --json > "$folder/found.json"
`;
}
