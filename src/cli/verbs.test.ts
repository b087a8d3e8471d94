import { expect, test } from 'vitest';
import { slowCommands } from '../../test/interrupted/slow-commands.ts';
import { verbs } from './verbs.ts';

test('Ctrl-C is tried on every command', () => {
  const tried = new Set(slowCommands.map(({ verb }) => verb));
  expect([...tried].toSorted()).toEqual(verbs.map(({ name }) => name).toSorted());
});
