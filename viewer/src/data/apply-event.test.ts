import { type QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, onTestFinished, test } from 'vitest';
import { RunId, type Timeline } from '../../../src/schema/index.ts';
import { timeline } from '../test-timeline.ts';
import { applyEvent } from './apply-event.ts';
import { createClient, keyOf } from './use-data.ts';

const run = { experiment: 'first', run: RunId.parse('digits-noop-0') };
const path = ['experiments', run.experiment, 'runs', run.run];
const used = { seconds: 1, calls: 0, tokens: 0, money: 0, unpriced: 0, estimated: 0 };

/** A shown query whose answers the test gives one by one. */
function shown<Data>(client: QueryClient, queryKey: readonly unknown[]) {
  const asked: PromiseWithResolvers<Data>[] = [];
  const observer = new QueryObserver<Data>(client, {
    queryKey,
    queryFn: () => {
      const answer = Promise.withResolvers<Data>();
      asked.push(answer);
      return answer.promise;
    },
  });
  onTestFinished(observer.subscribe(() => {}));
  return { asked, data: () => observer.getCurrentResult().data };
}

test('an event about an answer under way makes it requested again, once', async () => {
  const client = createClient();
  const { asked, data } = shown<Timeline>(client, keyOf([...path, 'timeline']));
  const ended = { ...timeline(['Read File'], ['ok']), from: 1 };
  for (let times = 0; times < 3; times++)
    applyEvent(
      client,
      { kind: 'steps', ...run, timeline: ended, steps_used: ended.total, used, budget: null },
      run,
    );
  asked[0]?.resolve(timeline(['Read File'], ['running']));
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.resolve(ended);
  await expect.poll(data).toEqual(ended);
  expect(asked.length).toBe(2);
});

test('a step that ends while it is shown is requested again, even if it had just been requested', async () => {
  const client = createClient();
  const { asked, data } = shown<string>(client, keyOf([...path, 'steps', '1']));
  const ended = timeline(['Read File'], ['ok']);
  applyEvent(
    client,
    { kind: 'steps', ...run, timeline: ended, steps_used: ended.total, used, budget: null },
    run,
  );
  asked[0]?.resolve('running');
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.resolve('ok');
  await expect.poll(data).toBe('ok');
});

test.each([
  { kind: 'results', ...run } as const,
  { kind: 'report', experiment: 'first', done: 1, total: 1 } as const,
])('whatever is computed from results is requested again: $kind', async (event) => {
  const client = createClient();
  const paths = [['experiments', 'first', 'report'], ['compare'], ['tasks', 'digits']];
  const pages = paths.map((of) => shown<string>(client, keyOf(of)));
  for (const { asked } of pages) asked[0]?.resolve('old');
  for (const { data } of pages) await expect.poll(data).toBe('old');
  applyEvent(client, event, {});
  for (const { asked } of pages) expect(asked.length).toBe(2);
});
