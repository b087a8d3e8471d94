import { expect, test } from 'vitest';
import type { ProposedAction } from '../environment/index.ts';
import { approveActions } from './approve-actions.ts';

const never = new AbortController().signal;
const proposed: ProposedAction = {
  ...{ branch: 'main', step: 3, name: 'Read File', args: { file_name: 'a\u001b[31m.py' } },
};

/** A person who gives these answers, and what they were asked. */
function person(...answers: string[]) {
  const asked: string[] = [];
  const ask = async (prompt: string) => {
    asked.push(prompt);
    return answers.shift() ?? '';
  };
  return { asked, gate: approveActions(ask, 'Ada') };
}

test('a person sees the action without control sequences for the terminal, and allows it', async () => {
  const { asked, gate } = person('what?', 'a');
  expect(await gate(proposed, never)).toEqual({ kind: 'allow', actor: 'Ada' });
  expect(asked).toHaveLength(2);
  expect(asked[0]).toContain('Step 3: the agent wants to Read File');
  expect(asked[0]).not.toContain('\u001b');
});

test('a person denies an action and says why', async () => {
  expect(await person('d', 'Not this.').gate(proposed, never)).toEqual({
    ...{ kind: 'deny', actor: 'Ada', reason: 'Not this.' },
  });
});

test('a person replaces the action, and is asked again after an invalid replacement', async () => {
  const { asked, gate } = person('e', 'Read File {"file', 'Read File {"file_name": "b.py"}');
  expect(await gate(proposed, never)).toMatchObject({
    kind: 'replace',
    action: { name: 'Read File', args: { file_name: 'b.py' } },
  });
  expect(asked).toHaveLength(3);
});

test('a person is told why their action can not be performed, and asked again', async () => {
  const { asked, gate } = person('e', 'Read Fil {}', 'List Files {}');
  const obstacleTo = ({ name }: { name: string }) => (name === 'Read Fil' ? 'No action Read Fil.' : null);
  expect(await gate({ ...proposed, obstacleTo }, never)).toMatchObject({ action: { name: 'List Files' } });
  expect(asked[2]).toMatch(/^No action Read Fil\.\nInstead/);
});

test('a person takes over until they enter no action', async () => {
  const decision = await person('t', 'List Files {"dir_path": "."}', '').gate(proposed, never);
  if (decision.kind !== 'take_over') throw new Error(`not taken over: ${decision.kind}`);
  expect(await decision.next(null, never)).toEqual({ name: 'List Files', args: { dir_path: '.' } });
  expect(await decision.next(null, never)).toBeNull();
});

test('a person can allow or deny the permission that a program asks for, but not take over', async () => {
  const { asked, gate } = person('t', 'd', 'No.');
  expect(await gate({ ...proposed, isPermission: true }, never)).toMatchObject({ kind: 'deny' });
  expect(asked[0]).not.toContain('take over');
});
