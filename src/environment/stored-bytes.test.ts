import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { replayOf, WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import { defaultLimits, Limits, storedBytesLimit } from '../schema/index.ts';

const limits = { ...defaultLimits, stored_mb: 1 };
const write = (text: string) => ({
  name: 'Write File',
  args: { file_name: 'submission.csv', content: text },
});

test('a run ends when it reaches its storage limit, and its last submission counts', async () => {
  await using place = await WorkspacePlace.open({ limits });
  const texts = Array.from({ length: 8 }, () => randomBytes(200_000).toString('base64'));
  const taken: { text: string; ended: boolean }[] = [];
  for (const text of texts) {
    const { ended, status } = await place.environment.step(write(text));
    if (status === 'closed') break;
    taken.push({ text, ended });
    // A new session counts what the sessions before stored.
    if (taken.length === 2) {
      await place.reopen();
      for (const earlier of taken) await place.environment.step(write(earlier.text));
    }
  }
  expect(taken.length).toBeGreaterThan(2);
  expect(taken.length).toBeLessThan(6);
  expect(taken.map(({ ended }) => ended)).toEqual(taken.map((_, index) => index === taken.length - 1));
  expect(place.environment.ending?.reason).toBe('storage_limit');
  const { submission } = await place.environment.finalState();
  expect(submission).toMatchObject({ present: true, written_at_step: taken.length });
  const stored = place.events.flatMap((event) =>
    event.kind === 'step_finished' ? [event.stored_bytes] : [],
  );
  expect(stored.at(-1)).toBeGreaterThan(2 ** 20);
  const replay = replayOf(place, limits);
  for (const { text, ended } of taken) expect((await replay.step(write(text))).ended).toBe(ended);
});

test('notes without a step end a run as well', async () => {
  await using place = await WorkspacePlace.open({ limits });
  for (let index = 0; index < 40; index += 1)
    place.environment.note({ Thought: randomBytes(100_000).toString('base64') });
  expect(place.environment.ending?.reason).toBe('storage_limit');
  expect(place.events.filter(({ kind }) => kind === 'note').length).toBeLessThan(15);
  expect((await place.environment.step(write('1'))).status).toBe('closed');
});

test('contents that are in the store already do not count', async () => {
  await using place = await WorkspacePlace.open({ limits });
  const text = randomBytes(120_000).toString('base64');
  for (let step = 0; step < 12; step += 1) {
    const name = `file-${step % 3}`;
    const args = { file_name: name, content: text };
    expect((await place.environment.step({ name: 'Write File', args })).ended).toBe(false);
  }
});

test('limits that were written before this one existed are read, and get its default', () => {
  const { stored_mb, ...old } = limits;
  expect(storedBytesLimit(Limits.parse(old))).toBe(8 * defaultLimits.workspace_mb * 2 ** 20);
});
