import { expect, test } from 'vitest';
import { slowCommands } from '../../test/interrupted/slow-commands.ts';
import { commandGroups, verbs } from './verbs.ts';

test('Ctrl-C is tried on every command', () => {
  const tried = new Set(slowCommands.map(({ verb }) => verb));
  expect([...tried].toSorted()).toEqual(verbs.map(({ name }) => name).toSorted());
});

test('every command is in one group of the help', () => {
  const first = new Set(verbs.map(({ name }) => name.split(' ')[0]));
  expect(Object.values(commandGroups).flat().toSorted()).toEqual([...first].toSorted());
});
