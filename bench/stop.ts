import {
  type Interrupted,
  interrupt,
  type SlowCommand,
  slowCommands,
  usualMoments,
} from '../test/interrupted/slow-commands.ts';
import { SlowPlace } from '../test/interrupted/slow-place.ts';
import type { Benchmark, Measurement } from './benchmark.ts';

const maxSeconds = 2;

export const stop: Benchmark = {
  name: 'stop',
  summary: 'how long every command goes on after Ctrl-C while it is kept busy',
  async measure({ quick, log, signal }) {
    await using place = new SlowPlace();
    await place.make();
    const measured: Measurement[] = [];
    for (const command of quick ? slowCommands.slice(0, 2) : slowCommands) {
      const tries: Interrupted[] = [];
      for (const moment of command.moments ?? usualMoments) {
        signal.throwIfAborted();
        tries.push(await interrupt(command, place, moment));
      }
      measured.push(measurementOf(command, tries));
      log(`${command.verb}: ${tries.map(({ seconds }) => seconds?.toFixed(2) ?? 'over').join(', ')}`);
    }
    return measured;
  },
};

function measurementOf(
  { verb, busy, moments = usualMoments }: SlowCommand,
  tries: readonly Interrupted[],
): Measurement {
  const times = tries.flatMap(({ seconds }) => seconds ?? []);
  const codes = new Set(tries.flatMap(({ seconds, code }) => (seconds === null ? [] : [code])));
  const over = tries.length - times.length;
  const note = [
    `busy with ${busy}`,
    `the longest of Ctrl-C ${moments.join(', ')} s after its start`,
    `exit code ${[...codes].join(', ')}`,
    ...(over > 0 ? [`${over} times it was over before`] : []),
    ...tries.flatMap(({ left }) => left.map((one) => `left: ${one}`)),
  ].join('; ');
  return { what: `mlab ${verb}`, value: Math.max(0, ...times), unit: 's', atMost: maxSeconds, note };
}
