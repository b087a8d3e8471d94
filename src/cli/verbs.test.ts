import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { slowCommands } from '../../test/interrupted/slow-commands.ts';
import { commandGroups, verbs } from './verbs.ts';

const folder = join(import.meta.dirname, 'verbs');

test('Ctrl-C is tested on every command', () => {
  const tried = new Set(slowCommands.map(({ verb }) => verb));
  expect([...tried].toSorted()).toEqual(verbs.map(({ name }) => name).toSorted());
});

test('every command is in one group of the help', () => {
  const first = new Set(verbs.map(({ name }) => name.split(' ')[0]));
  expect(Object.values(commandGroups).flat().toSorted()).toEqual([...first].toSorted());
});

test('exactly the commands that can exit with code 1 say when they do', async () => {
  for (const { name, load } of verbs) {
    const file = name === 'agents' ? 'agents-ls' : name.replace(' ', '-');
    const source = readFileSync(join(folder, `${file}.ts`), 'utf8');
    const canBeNegative = /exitCodes\.negative|conclude\(/.test(source);
    expect([name, (await load()).negative !== undefined]).toEqual([name, canBeNegative]);
  }
});
