import { expect, test } from 'vitest';
import { AgentNotification } from '../../schema/index.ts';

const note = (entries: Record<string, string>) =>
  AgentNotification.safeParse({ method: 'note', params: { entries } });

test('a note has at most 100 entries with names of at most 200 characters, and the error says so', () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}`, 'x']));
  expect(note({ ...entries(99), ['n'.repeat(200)]: 'x' }).success).toBe(true);
  expect(note(entries(101)).error?.message).toContain('a note has at most 100 entries');
  expect(note({ ['n'.repeat(201)]: 'x' }).error?.message).toContain('has at most 200 characters');
});
