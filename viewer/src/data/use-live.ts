import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type {
  ExperimentList,
  ExperimentPage,
  LiveEvent,
  RunLine,
  RunPage,
  Strip,
} from '../../../src/schema/index.ts';
import { type LiveOutput, withOutput } from './live-output.ts';
import type { LiveState } from './source.ts';
import { withNewSteps } from './strip-update.ts';
import { keyOf, useSource } from './use-data.ts';

export interface Live {
  /** `still`: nothing here ever changes. */
  state: LiveState | 'still';
  output: LiveOutput | null;
}

/** Listens to what happens, and keeps what is shown up to date. */
export function useLive(experiment?: string, run?: string): Live {
  const { live } = useSource();
  const client = useQueryClient();
  const [state, setState] = useState<Live['state']>(live === null ? 'still' : 'connecting');
  const [output, setOutput] = useState<LiveOutput | null>(null);
  useEffect(() => {
    if (live === null) return;
    setOutput(null);
    return live(
      { experiment, run },
      {
        state: setState,
        event(event) {
          if (event.kind === 'output') setOutput((before) => withOutput(before, event));
          else applyEvent(client, event);
        },
      },
    );
  }, [live, client, experiment, run]);
  return { state, output };
}

function applyEvent(client: QueryClient, event: LiveEvent): void {
  switch (event.kind) {
    case 'hello':
    case 'output':
      return;
    case 'reload':
      void client.invalidateQueries();
      return;
    case 'experiment':
      update<ExperimentList>(client, ['experiments'], ({ experiments }) => ({
        experiments: experiments.some(({ id }) => id === event.line.id)
          ? experiments.map((line) => (line.id === event.line.id ? event.line : line))
          : [event.line, ...experiments],
      }));
      update<ExperimentPage>(client, ['experiments', event.line.id], (page) => ({
        ...page,
        line: event.line,
      }));
      return;
    case 'experiment_gone':
      void client.invalidateQueries({ queryKey: ['experiments'] });
      return;
    case 'run':
      applyRun(client, event.experiment, event.line);
      return;
    case 'steps': {
      const path = ['experiments', event.experiment, 'runs', event.run];
      applySteps(client, [...path, 'strip'], event.strip);
      update<RunPage>(client, path, (page) => ({
        ...page,
        steps: event.strip.total,
        seconds_used: event.used.seconds,
        spent: event.used.tokens === 0 ? page.spent : { calls: page.spent?.calls ?? 0, ...event.used },
        has_tail: event.strip.has_tail,
      }));
      for (let step = event.strip.from; step <= event.strip.total; step++) {
        void client.invalidateQueries({ queryKey: [...path, 'steps', String(step)] });
      }
      return;
    }
    case 'report':
      if (event.done === event.total) {
        void client.invalidateQueries({ queryKey: ['experiments', event.experiment, 'report'] });
      }
      return;
    case 'evaluation':
      void client.invalidateQueries({ queryKey: ['experiments', event.experiment, 'runs', event.run] });
  }
}

function applyRun(client: QueryClient, experiment: string, line: RunLine): void {
  update<ExperimentPage>(client, ['experiments', experiment], (page) => ({
    ...page,
    runs: page.runs.map((run) => (run.run === line.run ? line : run)),
  }));
  const path = ['experiments', experiment, 'runs', line.run];
  const shown = client.getQueryData<RunPage>(keyOf(path));
  if (shown !== undefined && shown.status !== line.status) void client.invalidateQueries({ queryKey: path });
}

function applySteps(client: QueryClient, path: readonly string[], news: Strip): void {
  const old = client.getQueryData<Strip>(keyOf(path));
  if (old === undefined) return;
  const joined = withNewSteps(old, news);
  if (joined === null) void client.invalidateQueries({ queryKey: path });
  else client.setQueryData(keyOf(path), joined);
}

/** Only what was fetched, and so parsed, is changed. */
function update<Data>(client: QueryClient, path: readonly string[], change: (data: Data) => Data): void {
  client.setQueryData<Data>(keyOf(path), (old) => (old === undefined ? undefined : change(old)));
}
