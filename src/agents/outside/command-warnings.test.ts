import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandWarnings } from './command-warnings.ts';

test('a Python of a virtual environment is warned of, with what to do instead', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mlab-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['venv', 'plain']) {
    mkdirSync(join(folder, name, 'bin'), { recursive: true });
    writeFileSync(join(folder, name, 'bin', 'python'), '');
  }
  writeFileSync(join(folder, 'agent.py'), '');
  expect(commandWarnings('venv/bin/python agent.py', folder)).toEqual([]);
  writeFileSync(join(folder, 'venv', 'pyvenv.cfg'), '');
  const [warning, ...others] = commandWarnings('venv/bin/python agent.py', folder);
  expect(warning).toContain('pip install --target vendor PACKAGE');
  expect(warning).toContain('sys.path.insert(0, "/mlab-agent/files/vendor")');
  expect(others).toEqual([]);
  expect(commandWarnings(`env ${join(folder, 'venv/bin/python')} agent.py`, folder)).toHaveLength(1);
  expect(commandWarnings('plain/bin/python agent.py', folder)).toEqual([]);
});

test('a script of a folder above that is not there is refused: no workspace could have it', () => {
  expect(() => commandWarnings('python ../agents/nope.py', '/tmp')).toThrow(
    'The command names ../agents/nope.py, and there is no such file from /tmp.',
  );
  expect(commandWarnings('python nope.py', '/tmp')).toEqual([
    expect.stringContaining("the task's workspace"),
  ]);
});
