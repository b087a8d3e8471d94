import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aims, attack, held } from './attack.ts';
import { rows } from './rows.ts';
import { findAttacks, runAttack } from './run-attacks.ts';
import { tableOf, withTable } from './table.ts';

const [row] = rows;
if (row === undefined) throw new Error('the matrix is empty');

test('every folder of attacks is an aim, and every attack has a unique title', async () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(folders.map(({ name }) => name).filter((name) => !Object.hasOwn(aims, name))).toEqual([]);
  const titles = (await findAttacks()).map(({ aim, attack }) => `${aim}: ${attack.title}`);
  expect(titles.length).toBeGreaterThan(5);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

test('an attack that fails by itself, or does not end, does not count as held', async () => {
  const fails = attack({ title: 'fails', run: () => Promise.reject(new Error('a mistake')) });
  const stays = attack({ title: 'stays', seconds: 0.05, run: () => new Promise(() => {}) });
  const outcomes = [];
  for (const one of [fails, stays]) {
    outcomes.push(await runAttack({ aim: 'host', name: 'made-up', attack: one }, row));
  }
  expect(outcomes).toMatchObject([
    { outcome: 'broken', why: 'a mistake' },
    { outcome: 'broken', why: 'it did not end within 0.05 s' },
  ]);
});

test('everything that an attack was given is removed after it', async () => {
  let folder = '';
  const looks = attack({
    title: 'looks',
    run: async (stage) => {
      folder = stage.folder;
      return held(String(existsSync(stage.vault)));
    },
  });
  const { why } = await runAttack({ aim: 'host', name: 'made-up', attack: looks }, row);
  expect([why, existsSync(folder)]).toEqual(['true', false]);
});

test('the table counts attacks that were tried and held, and leaves tables of other versions in the page', () => {
  const result = { aim: 'host', name: 'x', title: 'y', why: '', seconds: 1 };
  const results = (['held', 'worked', 'skipped', 'broken'] as const).map((outcome) => ({
    ...result,
    outcome,
  }));
  const table = (version: string) => tableOf([{ row, results, obstacle: null }], version);
  expect(table('1')).toContain('| the host, its users, other runs and keys | 1 of 3 |');
  const mark = 'attacks: written by `npm run adversary -- --write`';
  const page = `before\n<!-- ${mark} -->\n<!-- /attacks -->\nafter`;
  const twice = withTable(withTable(withTable(page, table('1')), table('2')), table('2'));
  expect(twice.match(/^Version .;/gm)).toEqual(['Version 2;', 'Version 1;']);
  expect(twice).toMatch(/^before\n[\s\S]*\nafter$/);
  expect(twice).not.toContain('\n\n\n');
});
