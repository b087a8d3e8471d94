import { expect, test } from 'vitest';
import { verbs } from '../../src/cli/verbs.ts';
import { slowCommands } from './slow-commands.ts';

test('Ctrl-C is tried on every command', () => {
  const tried = new Set(slowCommands.map(({ verb }) => verb));
  expect([...tried].toSorted()).toEqual(verbs.map(({ name }) => name).toSorted());
});
