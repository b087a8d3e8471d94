import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { AttemptLog } from './attempts.ts';

const scratch = mkdtempSync(join(tmpdir(), 'mlab-attempts-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const scriptsFolder = join(import.meta.dirname, '../../../python/validation-agents');

/** Runs an adversarial script with these attempts, and returns its output. */
function printed(attempts: string): string {
  const script = join(scratch, 'script.py');
  writeFileSync(
    script,
    `import sys\nsys.path.insert(0, ${JSON.stringify(scriptsFolder)})\nfrom attempts import *\n${attempts}\nrun_all()\n`,
  );
  return execFileSync('python3', ['-B', script], { encoding: 'utf8' });
}

test('an attempt that meets an error is stopped by it, and one that returns got through', () => {
  const log = new AttemptLog();
  log.readOutput(
    printed(`
add("read", "/nowhere", lambda: open("/nowhere").read())
add("take", "by hand", lambda: "took it")
def stop(): raise Stopped("nothing there")
def leave(): raise Judged("left it")
add("look", "around", stop)
add("leave", "a file", leave)`),
  );
  expect(log.attempts).toEqual([
    { what: 'read', how: '/nowhere', outcome: 'stopped', because: 'ENOENT (No such file or directory)' },
    { what: 'take', how: 'by hand', outcome: 'got_through', because: 'took it' },
    { what: 'look', how: 'around', outcome: 'stopped', because: 'nothing there' },
    { what: 'leave', how: 'a file', outcome: 'judged', because: 'left it' },
  ]);
});

test('an attempt that its script never reached counts as not made', () => {
  const log = new AttemptLog();
  const open = log.readOutput(
    printed('import os\nadd("die", "", lambda: os._exit(0))\nadd("later", "", str)'),
  );
  expect(open).toEqual(['die', 'later']);
  expect(log.attempts.map(({ what, outcome }) => [what, outcome])).toEqual([
    ['die', 'not_made'],
    ['later', 'not_made'],
  ]);
});

test('attempts with the same name are counted separately', () => {
  const log = new AttemptLog();
  log.plan('read', 'read');
  log.add({ what: 'read', how: 'a', outcome: 'stopped', because: 'ENOENT' });
  expect(log.attempts.map(({ outcome }) => outcome)).toEqual(['stopped', 'not_made']);
});

test('lines that only resemble reports are ignored', () => {
  const log = new AttemptLog();
  log.readOutput('@attempt {"what": 1}\n@attempt {\n@plan 7\n @attempt {}\nprinted @plan ["x"]\n');
  expect(log.attempts).toEqual([]);
});
