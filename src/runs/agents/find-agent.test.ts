import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { anyAgentOfRun } from './find-agent.ts';

const place = {
  ...{ cache: '/nowhere', helpersFolder: '/nowhere', driver: 'none' as const, onProgress: () => {} },
  signal: new AbortController().signal,
};

/** A folder with a shared plan, and code in it that reports when it is run. */
function handedOn() {
  const folder = temporaryFolder();
  const inside = join(folder, 'first/runs/digits-evil-0/workspace');
  mkdirSync(inside, { recursive: true });
  writeFileSync(join(folder, 'first/plan.json'), '{}');
  const source = `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'it-ran'))}, '')`;
  for (const name of [join(inside, 'evil.cjs'), join(folder, 'evil.cjs')]) writeFileSync(name, source);
  return { folder, inside, hasRun: () => existsSync(join(folder, 'it-ran')) };
}

test('code that came with a plan is never the agent of a run, whatever path names it', async () => {
  const { folder, inside, hasRun } = handedOn();
  for (const path of [
    join(inside, 'evil.cjs'),
    `/proc/self/root${folder}/evil.cjs`,
    `//proc/self/root${folder}/evil.cjs`,
    `/usr/../proc/self/root${folder}/evil.cjs`,
    `proc/self/root${folder}/evil.cjs`,
    join(inside, '../evil.py'),
  ]) {
    if (path.endsWith('.py')) writeFileSync(path, '');
    const planned = { agent: 'evil', agent_source: { path, sha256: '0'.repeat(64) } };
    await expect(anyAgentOfRun(planned, place)).rejects.toThrow('is part of an experiment');
  }
  expect(hasRun()).toBe(false);
});
