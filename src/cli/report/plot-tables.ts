import type { Report } from '../../schema/index.ts';
import { change, countOf, quantity, share, words } from './cells.ts';
import { define } from './define-table.ts';

/** The points of plots, for people who draw them with other tools. */

type CurveRow = {
  task: string;
  agent: string;
  axis: string;
  at: number;
  low: number;
  median: number;
  high: number;
};

export const curves = define<CurveRow>({
  title: 'Hidden score over steps, time, tokens and money',
  note: 'The improvement of the newest graded step: median and quartiles of the runs.',
  rows: ({ curves: all }) =>
    all.flatMap(({ task, agent, axis, at, low, median, high }) =>
      at.map((position, index) => ({
        ...{ task, agent, axis, at: position },
        ...{ low: low[index] ?? 0, median: median[index] ?? 0, high: high[index] ?? 0 },
      })),
    ),
  fields: [
    words('task', 'task', ({ task }) => task),
    words('agent', 'agent', ({ agent }) => agent),
    words('axis', 'axis', ({ axis }) => axis),
    quantity('at', 'at', ({ at }) => at),
    quantity('low', 'lower quartile', ({ low }) => low, change),
    quantity('median', 'median', ({ median }) => median, change),
    quantity('high', 'upper quartile', ({ high }) => high, change),
  ],
});

type FrontierPoint = { task: string; cost: string } & Report['frontiers'][number]['points'][number];

export const frontiers = define<Omit<FrontierPoint, 'cost'> & { by: string; cost: number }>({
  title: 'Success against cost',
  note: 'On the frontier: no other agent is at least as good in both and better in one.',
  rows: ({ frontiers: all }) =>
    all.flatMap(({ task, cost: by, points }) =>
      points.map((point) => ({ ...point, by, task: task ?? 'all' })),
    ),
  fields: [
    words('task', 'task', ({ task }) => task),
    words('by', 'cost in', ({ by }) => (by === 'money' ? 'US dollars' : by)),
    words('agent', 'agent', ({ agent }) => agent),
    quantity('cost', 'cost of a run', ({ cost }) => cost),
    countOf('successes', 'successes', (point) => point),
    quantity('success', 'success', ({ success }) => success, share),
    words('on_frontier', 'on the frontier', ({ on_frontier }) => (on_frontier ? 'yes' : 'no')),
  ],
});

type ProfilePoint = { agent: string; runs: number; level: number; share: number; low: number; high: number };

export const profiles = define<ProfilePoint>({
  title: 'Performance profiles',
  note: 'The share of runs with a normalised score above each level; each task counts the same.',
  rows: ({ profiles: all }) =>
    all.flatMap(({ agent, runs, levels, share: shares, low, high }) =>
      levels.map((level, index) => ({
        ...{ agent, runs, level, share: shares[index] ?? 0, low: low[index] ?? 0, high: high[index] ?? 0 },
      })),
    ),
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    quantity('runs', 'runs', ({ runs }) => runs),
    quantity('level', 'above', ({ level }) => level),
    quantity('share', 'share', (point) => point.share, share),
    quantity('low', 'low', ({ low }) => low, share),
    quantity('high', 'high', ({ high }) => high, share),
  ],
});
