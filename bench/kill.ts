import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../src/lib/hash.ts';
import { startProviderServer, variablesFor } from '../test/fakes/providers/index.ts';
import type { Benchmark } from './benchmark.ts';
import { Killing, type KillingOptions, type WholeRun } from './kill/killing.ts';
import { kinds, openRun } from './kill/kinds.ts';
import { groupsLeft, mountsLeft } from './kill/left-over.ts';
import { Tally } from './kill/tally.ts';
import { provision, requireSandbox } from './task-resources.ts';

/** Harnesses that are killed concurrently. */
const atOnce = 6;
/** Of a model's reply, in milliseconds: time in which a call can be hit. */
const latencyMs = 20;

export const kill: Benchmark = {
  name: 'kill',
  summary:
    'kill -9 at 2,000 moments of steps, forks, gates, gradings …: what is lost, what is left over, do runs resume',
  async measure(context) {
    const { kills = context.quick ? 12 : 2_000, seed = 1 } = context;
    await requireSandbox();
    const resources = await provision(context.cache, context.signal);
    await using server = await startProviderServer({ latencyMs, answer: () => answer });
    const temporary = join(context.scratch, 'temporary');
    mkdirSync(temporary);
    const variables = {
      ...process.env,
      ...variablesFor(server),
      // So that all leftovers belong to these runs.
      TMPDIR: temporary,
      MLAB_CACHE: context.cache,
      NODE_COMPILE_CACHE: join(context.cache, 'compiled'),
    };
    const tally = new Tally();
    const pids = new Set<number>();
    const random = seededRandom(seed);
    const options: KillingOptions = { context, kills, tally, random, variables, pids };
    const lanes = Array.from({ length: context.quick ? 3 : atOnce }, () => new Killing(options));
    const [first] = lanes;
    if (first === undefined) throw new Error('there is nobody to kill');
    const whole: WholeRun[] = [];
    for (const kind of kinds)
      for (let each = 0; each < (context.quick ? 1 : kind.seeds); each++) {
        const parents = whole.map(({ opened }) => opened);
        const opened = openRun(kind, each, `whole-${kind.name}-${each}`, context.scratch, resources, parents);
        whole.push(await first.whole(opened));
      }
    const parents = whole.map(({ opened }) => opened);
    await Promise.all(
      lanes.map(async (lane) => {
        while (tally.kills < kills) {
          const number = tally.runs++;
          const undisturbed = whole[number % whole.length];
          if (undisturbed === undefined) throw new Error('there is no undisturbed run');
          const { kind, seed: its } = undisturbed.opened;
          const name = `killed-${kind.name}-${number}`;
          await lane.killUntilDone(
            openRun(kind, its, name, context.scratch, resources, parents),
            undisturbed,
          );
          context.log(`${tally.kills} kills, ${tally.runs} runs`);
        }
        await lane.end();
      }),
    );
    // The next harness on a machine removes what a killed one left: this is one.
    await clear(options, whole, resources);
    tally.leftOver.push(...mountsLeft(context.scratch), ...groupsLeft(pids), ...readdirSync(temporary));
    for (const name of tally.leftOver) context.log(`left over: ${name}`);
    return tally.measurements();
  },
};

const answer = { text: '```python\nprint(1)\n```', usage: { input: 1_000, output: 20 } };

async function clear(
  options: KillingOptions,
  whole: readonly WholeRun[],
  resources: Parameters<typeof openRun>[4],
): Promise<void> {
  const [kind] = kinds;
  if (kind === undefined) return;
  const last = new Killing(options);
  const parents = whole.map(({ opened }) => opened);
  await last.whole(openRun(kind, 0, 'last', options.context.scratch, resources, parents));
  await last.end();
}

/** Numbers from 0 to 1, the same for the same seed. */
function seededRandom(seed: number): () => number {
  let drawn = 0;
  return () => Number.parseInt(sha256(`${seed} ${drawn++}`).slice(0, 12), 16) / 2 ** 48;
}
