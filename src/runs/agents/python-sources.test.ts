import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { sourcesBeside } from './python-sources.ts';

test("only Python files of an agent's folder are used: no secrets, no hidden files, and no links", () => {
  const folder = temporaryFolder();
  for (const name of ['.ssh', '.hidden', 'parts', 'venv']) mkdirSync(join(folder, name));
  const secret = [
    '.env',
    '.env.py',
    'id_rsa',
    'server.key',
    'cert.pem',
    '.ssh/id_rsa',
    '.hidden/a.py',
    'venv/b.py',
  ];
  const sources = ['agent.py', 'parts/words.py'];
  for (const name of [...secret, ...sources, 'prompt.txt']) writeFileSync(join(folder, name), name);
  symlinkSync(join(folder, '.env'), join(folder, 'link.py'));
  expect([...sourcesBeside(join(folder, 'agent.py')).keys()].sort()).toEqual(sources);
});

test('experiments beside an agent are no sources of it, and too many other files are named with their folder', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'agent.py'), '');
  const many = join(folder, 'experiments/first');
  mkdirSync(many, { recursive: true });
  for (let file = 0; file < 501; file++) writeFileSync(join(many, `${file}.py`), '');
  const read = () => sourcesBeside(join(folder, 'agent.py'));
  expect(read).toThrow(`with those in ${many}, there are more than 500`);
  writeFileSync(join(many, 'plan.json'), '{}');
  expect([...read().keys()]).toEqual(['agent.py']);
});
