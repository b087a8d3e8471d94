import { describe, expect, test } from 'vitest';
import { evaluation } from '../../../test/fixtures/evaluations.ts';
import { buildReport } from './build-report.ts';
import { distinctAgents } from './distinct-agents.ts';

const run = (agent: string, source?: { hash: string; version?: string }) => ({
  ...evaluation({ agent }),
  ...(source === undefined ? {} : { source }),
});
const [one, other] = ['3f2a91cc', '77d0e4aa'];
const labels = (...runs: ReturnType<typeof run>[]) => distinctAgents(runs).map(({ agent }) => agent);

describe('agents of different sources with the same label', () => {
  test('are distinguished by a short hash of their source', () => {
    expect(labels(run('climber', { hash: one }), run('climber', { hash: other }))).toEqual([
      'climber@3f2a91',
      'climber@77d0e4',
    ]);
    expect(
      labels(run('climber(a/b, c=(d))', { hash: one }), run('climber(a/b, c=(d))', { hash: other })),
    ).toEqual(['climber@3f2a91(a/b, c=(d))', 'climber@77d0e4(a/b, c=(d))']);
  });

  test('are distinguished by their versions if these differ', () => {
    const versions = (first: string, second: string) =>
      labels(run('climber', { hash: one, version: first }), run('climber', { hash: other, version: second }));
    expect(versions('1.2.0', '1.3.0')).toEqual(['climber@1.2.0', 'climber@1.3.0']);
    expect(versions('1.2.0', '1.2.0')).toEqual(['climber@3f2a91', 'climber@77d0e4']);
  });

  test('have separate rows in a report', () => {
    const runs = [run('climber', { hash: one }), run('climber', { hash: other }), run('noop')];
    expect(buildReport(runs, { resamples: 20 }).rows.map(({ agent }) => agent)).toEqual([
      'climber@3f2a91',
      'climber@77d0e4',
      'noop',
    ]);
  });
});

test('agents of one source, and those of mlab, keep their labels', () => {
  const same = run('climber', { hash: one, version: '1.2.0' });
  expect(labels(same, same, run('noop'))).toEqual(['climber', 'climber', 'noop']);
});
