import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { messageOf } from '../../src/lib/errors.ts';
import { plainLine } from '../../src/lib/plain-line.ts';
import { checkSandbox, SandboxError } from '../../src/sandbox/index.ts';
import { type Aim, type Attack, aims } from './attack.ts';
import { type Row, rows } from './rows.ts';
import { Stage } from './stage.ts';

/** `broken`: the attack itself failed or did not end, so its result is unknown; counts as a failure of the suite. */
export const Result = z.object({
  aim: z.string(),
  /** The name of the module, without its extension. */
  name: z.string(),
  title: z.string(),
  outcome: z.enum(['held', 'worked', 'skipped', 'broken']),
  why: z.string(),
  seconds: z.number(),
});
export type Result = z.infer<typeof Result>;

export interface FoundAttack {
  aim: Aim;
  name: string;
  attack: Attack;
}

/** All attacks below this folder, by aim and name. */
export async function findAttacks(): Promise<FoundAttack[]> {
  const found: FoundAttack[] = [];
  for (const aim of Object.keys(aims) as Aim[]) {
    for (const file of modulesOf(join(import.meta.dirname, aim))) {
      const { default: attacks } = await import(pathToFileURL(file).href);
      const name = basename(file, '.ts');
      for (const attack of [attacks].flat()) found.push({ aim, name, attack });
    }
  }
  return found;
}

function modulesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  const modules = files.filter((file) => file.endsWith('.ts') && !file.includes('.test.'));
  return modules.map((file) => join(folder, file));
}

/** Whether an attack is tried in a row: one without a sandbox is tried once for each user. */
export function belongsTo({ attack }: FoundAttack, row: Row): boolean {
  return attack.scope === 'confined' || rows.find(({ user }) => user === row.user) === row;
}

export async function runAttack({ aim, name, attack }: FoundAttack, row: Row): Promise<Result> {
  const start = performance.now();
  const verdict = await verdictOf(attack, row);
  const seconds = (performance.now() - start) / 1000;
  return { aim, name, title: attack.title, ...verdict, why: plainLine(verdict.why, 240), seconds };
}

async function verdictOf(attack: Attack, row: Row): Promise<Pick<Result, 'outcome' | 'why'>> {
  const controller = new AbortController();
  const stage = new Stage(row, controller.signal);
  try {
    const tooLong = sleep(1000 * attack.seconds, null, { signal: controller.signal });
    tooLong.catch(() => {});
    const run = attack.run(stage);
    run.catch(() => {});
    const verdict = await Promise.race([run, tooLong]);
    return verdict ?? { outcome: 'broken', why: `it did not end within ${attack.seconds} s` };
  } catch (error) {
    return { outcome: 'broken', why: messageOf(error) };
  } finally {
    controller.abort();
    await stage[Symbol.asyncDispose]().catch(() => {});
  }
}

/** Why this process can't try a row, or null. */
export async function obstacleTo(row: Row): Promise<string | null> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot !== (row.user === 'root')) return isRoot ? 'this process is root' : 'only root can try this';
  if (row.groups !== null) {
    const limits = (await checkSandbox()).find(({ name }) => name === 'limits');
    if ((limits?.state === 'ok') !== row.groups) return limits?.detail ?? 'no limits are known here';
  }
  await using stage = new Stage(row, new AbortController().signal);
  try {
    const { output } = await stage.shell('echo well');
    return output === 'well\n' ? null : `a command printed ${output}`;
  } catch (error) {
    if (SandboxError.isInstance(error)) return error.message;
    throw error;
  }
}
