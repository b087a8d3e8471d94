import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePython, ensureUv, findTasks, readRequirements, suites } from '../src/tasks/index.ts';
import { type BenchContext, type Benchmark, type Measurement, median } from './benchmark.ts';

const tasksFolder = join(import.meta.dirname, '../tasks');

/** `pip`: as without locks. */
const installers = ['pip', 'uv'] as const;
type Installer = (typeof installers)[number];
type Times = Record<Installer, number[]>;

export const python: Benchmark = {
  name: 'python',
  summary: 'how long the Python environments of the starter suite take, by uv and by pip alone',
  async measure(context) {
    const cold: Times = { pip: [], uv: [] };
    const again: Times = { pip: [], uv: [] };
    for (let round = 1; round <= (context.quick ? 1 : 3); round++) {
      for (const installer of installers) {
        const cache = join(context.scratch, installer);
        rmSync(cache, { recursive: true, force: true });
        cold[installer].push(await makeAll(context, installer, cache));
        await removeEnvironments(context, installer, cache);
        again[installer].push(await makeAll(context, installer, cache));
        context.log(
          `round ${round}, ${installer}: ${cold[installer].at(-1)} s, ${again[installer].at(-1)} s`,
        );
      }
    }
    return [...rowsOf('an empty cache', cold), ...rowsOf('downloads in the cache', again)];
  },
};

/** In seconds. */
async function makeAll(
  { quick, signal }: BenchContext,
  installer: Installer,
  cache: string,
): Promise<number> {
  const members = suites(findTasks([tasksFolder]).tasks).get('starter') ?? [];
  const wanted = new Set(members.map(({ requirements }) => requirements).sort((a, b) => a.length - b.length));
  const begun = performance.now();
  for (const requirements of [...wanted].slice(0, quick ? 1 : undefined)) {
    const lines = installer === 'uv' ? requirements : [...readRequirements(requirements).keys()].join('\n');
    await ensurePython(lines, { cache, installer, variables: variablesOf(cache), signal });
  }
  return Math.round((performance.now() - begun) / 10) / 100;
}

/** Except for uv's own. */
async function removeEnvironments(
  { signal }: BenchContext,
  installer: Installer,
  cache: string,
): Promise<void> {
  const variables = variablesOf(cache);
  const uv = installer === 'uv' ? await ensureUv({ cache, variables, signal }) : null;
  for (const name of readdirSync(join(cache, 'environments'))) {
    const folder = join(cache, 'environments', name);
    if (uv?.executable.startsWith(folder) !== true) rmSync(folder, { recursive: true });
  }
}

/** With pip's downloads in this cache, too. */
function variablesOf(cache: string) {
  return { ...process.env, PIP_CACHE_DIR: join(cache, 'pip') };
}

function rowsOf(what: string, times: Times): Measurement[] {
  const [by, other] = [median(times.uv), median(times.pip)];
  const all = (installer: Installer) => times[installer].map((seconds) => `${seconds} s`).join(', ');
  const common = { unit: 's', atMost: null };
  return [
    { what: `by uv, ${what}`, value: by, ...common, note: all('uv') },
    { what: `by pip, ${what}`, value: other, ...common, note: all('pip') },
    { what: `uv against pip, ${what}`, value: by / other, unit: 'times', atMost: 1, note: '' },
  ];
}
