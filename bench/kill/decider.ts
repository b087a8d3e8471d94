import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunFolder } from '../../src/store/index.ts';
import { launcher } from '../task-resources.ts';
import { replacement, verdictOn } from './brancher.ts';

/** How long `mlab decide` takes, roughly. */
const usualMs = 400;

export interface DeciderOptions {
  run: RunFolder;
  experiment: string;
  /** Folder of the experiment's folder. */
  experiments: string;
  variables: NodeJS.ProcessEnv;
  random: () => number;
  /** Whether `mlab decide` may be killed, too. */
  mayKill: () => boolean;
  onKill: () => void;
  /** Aborted when nobody waits for decisions any more. */
  signal: AbortSignal;
}

/** Decides on everything that a run waits for, with `mlab decide`, which is sometimes killed at random moments. */
export async function decideAll(options: DeciderOptions): Promise<void> {
  const { run, signal } = options;
  while (!signal.aborted) {
    const record = run.readRecord();
    for (const awaited of record?.status === 'waiting' ? (record.waits_for ?? []) : [])
      if (!signal.aborted) await decide(awaited, options);
    await sleep(50, undefined, { signal }).catch(() => {});
  }
}

async function decide(
  { branch, step, action }: { branch: string; step: number; action: string },
  { run, experiment, experiments, variables, random, mayKill, onKill }: DeciderOptions,
): Promise<void> {
  const verdict = verdictOn({ name: action });
  const argv = [
    ...[launcher, 'decide', `${experiment}/${run.id}`, verdict, '--dir', experiments],
    ...['--branch', branch, '--step', String(step)],
    ...(verdict === 'deny' ? ['--reason', 'as always'] : []),
    ...(verdict === 'replace'
      ? ['--instead', `${replacement.name} ${JSON.stringify(replacement.args)}`]
      : []),
  ];
  const child = spawn(process.execPath, argv, { stdio: 'ignore', env: variables });
  const isToDie = mayKill() && random() < 0.5;
  const timer = isToDie ? setTimeout(() => child.kill('SIGKILL'), random() * usualMs) : null;
  await once(child, 'close');
  if (timer !== null) clearTimeout(timer);
  if (child.signalCode === 'SIGKILL') onKill();
}
