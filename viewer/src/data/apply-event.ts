import type { Query, QueryClient } from '@tanstack/react-query';
import type {
  ExperimentLine,
  ExperimentList,
  ExperimentPage,
  LiveEvent,
  RunLine,
  RunPage,
  TaskPage,
  Timeline,
} from '../../../src/schema/index.ts';
import type { LiveTopic } from './source.ts';
import { withNewSteps } from './timeline-update.ts';
import { keyOf } from './use-data.ts';

/**
 * Updates the shown data.
 * @param topic the run whose steps the connection follows
 */
export function applyEvent(client: QueryClient, event: LiveEvent, topic: LiveTopic): void {
  switch (event.kind) {
    case 'hello':
    case 'output':
      return;
    case 'reload':
      renew(client, []);
      return;
    case 'experiment':
      applyExperiment(client, event.line);
      return;
    case 'experiment_gone':
      renew(client, ['experiments']);
      renew(client, ['tasks']);
      return;
    case 'run':
      applyRun(client, event.experiment, event.line, topic);
      return;
    case 'steps':
      applySteps(client, event);
      return;
    case 'results':
      renew(client, ['experiments', event.experiment, 'runs', event.run]);
      renewResults(client, event.experiment);
      return;
    case 'report':
      if (event.done === event.total) renewResults(client, event.experiment);
      return;
    case 'evaluation':
      renew(client, ['experiments', event.experiment, 'runs', event.run]);
  }
}

/** Requests again what was loaded before the connection was open: it may be older than the first event. */
export function renewLoadedData(client: QueryClient): void {
  void client.invalidateQueries({ predicate: ({ state }) => state.data !== undefined });
}

function applyExperiment(client: QueryClient, line: ExperimentLine): void {
  update<ExperimentList>(client, ['experiments'], ({ experiments }) => ({
    experiments: experiments.some(({ id }) => id === line.id)
      ? experiments.map((known) => (known.id === line.id ? line : known))
      : [line, ...experiments],
  }));
  update<ExperimentPage>(client, ['experiments', line.id], (page) => ({ ...page, line }));
  for (const task of line.tasks) {
    const page = client.getQueryData<TaskPage>(keyOf(['tasks', task]));
    if (page?.runs.every(({ experiment }) => experiment !== line.id)) renew(client, ['tasks', task]);
  }
}

function applyRun(client: QueryClient, experiment: string, line: RunLine, topic: LiveTopic): void {
  update<ExperimentPage>(client, ['experiments', experiment], (page) => ({
    ...page,
    runs: page.runs.map((run) => (run.run === line.run ? line : run)),
  }));
  update<TaskPage>(client, ['tasks', line.task], (page) => ({
    ...page,
    runs: page.runs.map((run) =>
      run.experiment === experiment && run.line.run === line.run ? { ...run, line } : run,
    ),
  }));
  const path = ['experiments', experiment, 'runs', line.run];
  const isWatched = topic.experiment === experiment && topic.run === line.run;
  const shown = client.getQueryData<RunPage>(keyOf(path));
  if (!isWatched && shown !== undefined && shown.steps !== line.steps) renew(client, path);
  update<RunPage>(client, path, (page) =>
    page.status === 'running' ? { ...page, seconds_used: line.used.seconds } : page,
  );
}

function applySteps(client: QueryClient, event: Extract<LiveEvent, { kind: 'steps' }>): void {
  const { timeline, steps_used, used } = event;
  const path = ['experiments', event.experiment, 'runs', event.run];
  const old = client.getQueryData<Timeline>(keyOf([...path, 'timeline']));
  if (old !== undefined && withNewSteps(old, timeline) === null) renew(client, [...path, 'timeline']);
  else update<Timeline>(client, [...path, 'timeline'], (known) => withNewSteps(known, timeline) ?? known);
  const { seconds, ...spent } = used;
  update<RunPage>(client, path, (page) => ({
    ...page,
    ...{ steps: timeline.total, steps_used },
    seconds_used: seconds,
    spent: spent.calls === 0 ? page.spent : spent,
    has_tail: timeline.has_tail,
  }));
  for (let step = timeline.from; step <= timeline.total; step++)
    renew(client, [...path, 'steps', String(step)]);
}

/** Requests again everything that is computed from the results of several runs. */
function renewResults(client: QueryClient, experiment: string): void {
  renew(client, ['experiments', experiment, 'report']);
  renew(client, ['compare']);
  renew(client, ['tasks']);
}

/** Changes only data that was fetched, and so parsed. */
function update<Data>(client: QueryClient, path: readonly string[], change: (data: Data) => Data): void {
  const queryKey = keyOf(path);
  client.setQueryData<Data>(queryKey, (old) => (old === undefined ? undefined : change(old)));
  const query = client.getQueryCache().find({ queryKey });
  if (query !== undefined && query.state.fetchStatus !== 'idle') renew(client, queryKey);
}

const awaited = new WeakSet<Query>();

/** Requests it again. A reply under way may be older than the event: then it is requested again once it is here. */
function renew(client: QueryClient, path: readonly unknown[]): void {
  for (const query of client.getQueryCache().findAll({ queryKey: path })) {
    const { queryKey, state, promise } = query;
    const ask = () => void client.invalidateQueries({ queryKey, exact: true });
    if (state.fetchStatus === 'idle' || promise === undefined) ask();
    else if (!awaited.has(query)) {
      awaited.add(query);
      const askAgain = () => {
        awaited.delete(query);
        ask();
      };
      promise.then(askAgain, askAgain);
    }
  }
}
