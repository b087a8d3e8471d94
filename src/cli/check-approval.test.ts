import { expect, test } from 'vitest';
import { exampleSpec } from '../../test/fixtures/store/examples.ts';
import { anyAgentOfRun } from '../runs/index.ts';
import type { RunSpec } from '../schema/index.ts';
import { checkApproval } from './check-approval.ts';

const place = {
  ...{ cache: '', helpersFolder: '', driver: 'none' as const },
  signal: new AbortController().signal,
  onProgress: () => {},
};

async function refusal(agent: string, flags: { approve?: true; later?: true }): Promise<string> {
  const { approve = false, later } = flags;
  const spec = { ...exampleSpec(), agent, ...(later && { approve_later: true }) };
  const agentOf = (run: RunSpec) => anyAgentOfRun(run, place);
  try {
    await checkApproval([spec], approve, agentOf);
    return '';
  } catch (error) {
    return error instanceof Error && 'hint' in error ? `${error.message} ${error.hint}` : String(error);
  }
}

test('a program that acts by itself is refused with any supervision, also if it has no model', async () => {
  const acts = 'The agent command is a program that acts without asking for approval.';
  expect(await refusal('command', { approve: true })).toBe(`${acts} Leave out --approve.`);
  expect(await refusal('command', { later: true })).toBe(`${acts} Leave out --approve-later.`);
  expect(await refusal('command', {})).toBe('');
});

test('a program that asks for permissions is supervised at the terminal, and never later', async () => {
  expect(await refusal('acp', { approve: true })).toBe('');
  expect(await refusal('acp', { later: true })).toMatch(
    /asks for permissions while it runs.* Leave out --approve-later\. With --approve, it asks you/,
  );
});

test('agents that are not programs can be supervised in both ways', async () => {
  expect(await refusal('tools', { approve: true })).toBe('');
  expect(await refusal('tools', { later: true })).toBe('');
});
