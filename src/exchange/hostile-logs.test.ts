import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { importOriginalRuns } from './index.ts';

/** Hostile logs. */
const place = 'llama/digits/3';
const secret = 'not for anybody';

interface Logs {
  folder: string;
  put(path: string, content: string | Buffer): void;
  path(path: string): string;
}

function logs(): Logs {
  const folder = temporaryFolder();
  const path = (name: string) => {
    const whole = join(folder, 'logs', place, name);
    mkdirSync(dirname(whole), { recursive: true });
    return whole;
  };
  return { folder, path, put: (name, content) => writeFileSync(path(name), content) };
}

async function caveatsOf({ folder }: Logs): Promise<string> {
  const { runs } = await importOriginalRuns({
    ...{ folders: [join(folder, 'logs')], name: 'imported', experiments: join(folder, 'experiments') },
    ...{ taskFolders: [], sandbox: 'none', version: '0', onProgress: () => {} },
    signal: new AbortController().signal,
  });
  expect(runs).toHaveLength(1);
  return runs[0]?.caveats.join('; ') ?? '';
}

const step = (timestamp: number, observation: string) => ({
  ...{ action: { name: 'Read File', args: { file_name: 'a' } }, observation, timestamp },
});

describe('hostile logs', () => {
  test('no link is followed, and no pipe or device is opened', async () => {
    const given = logs();
    const outside = join(given.folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), secret);
    given.put('agent_log/step_1_log.log', '');
    symlinkSync('/dev/zero', given.path('agent_log/step_0_log.log'));
    execFileSync('mkfifo', [given.path('env_log/trace.json'), given.path('env_log/error.txt')]);
    execFileSync('mkfifo', [given.path('env_log/traces/step_0_files/pipe')]);
    symlinkSync(outside, given.path('env_log/traces/step_1_files'));
    symlinkSync(join(outside, 'secret'), given.path('env_log/traces/step_0_files/link'));
    symlinkSync(outside, given.path('env_log/traces/step_0_files/folder'));
    const caveats = await caveatsOf(given);
    expect(caveats).toContain('trace.json unreadable');
    expect(caveats).toContain('step_0_files: 3 entries left out');
    const found = spawnSync('grep', ['-r', secret, join(given.folder, 'experiments')]);
    expect(found.status).toBe(1);
  });

  test('a folder of logs that is a link is not entered', async () => {
    const given = logs();
    const outside = join(given.folder, 'outside');
    mkdirSync(join(outside, 'env_log'), { recursive: true });
    writeFileSync(join(outside, 'env_log/trace.json'), JSON.stringify({ steps: [step(1, secret)] }));
    given.put('agent_log/step_0_log.log', '');
    symlinkSync(join(outside, 'env_log'), given.path('env_log'));
    expect(await caveatsOf(given)).toContain('no trace.json');
  });

  test.each([
    ['deep JSON', 'env_log/trace.json', `{"steps":${'['.repeat(100_000)}`, 'trace nested too deeply'],
    ['many values', 'env_log/trace.json', `{"steps":[${'{},'.repeat(400_000)}{}]}`, 'trace too many values'],
    [
      'a file that is too large',
      'env_log/trace.json',
      Buffer.alloc(7 * 2 ** 20, ' '),
      'trace.json too large',
    ],
    ['deep JSON in an archive', 'trace.json.gz', gzipSync(`{"a":`.repeat(100_000)), 'nested too deeply'],
    ['a bomb', 'trace.json.gz', gzipSync(Buffer.alloc(100 * 2 ** 20)), 'trace.json.gz too large'],
    [
      'a bomb of lines',
      'calls.jsonl.gz',
      gzipSync(Buffer.alloc(100 * 2 ** 20, '\n')),
      'calls.jsonl.gz too large',
    ],
  ])('%s is reported as a gap of its run', async (_, name, content, gap) => {
    const given = logs();
    given.put(name, content);
    expect(await caveatsOf(given)).toContain(gap);
  });

  test.each([
    ['bars alone', '='.repeat(5_000_000)],
    ['bars with many ends', `${`======${' response (1)='.repeat(700)}\n`.repeat(500)}`],
    ['prompts without replies', '=====prompt=====\n'.repeat(300_000)],
    ['line breaks', '\n'.repeat(5_000_000)],
  ])('a log of %s is read in little time', async (_, content) => {
    const given = logs();
    given.put('agent_log/step_0_log.log', content);
    const started = performance.now();
    await caveatsOf(given);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

const report = `data:text/javascript,process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))`;

function importing(folder: string) {
  const mlab = join(import.meta.dirname, '../../bin/mlab.mjs');
  const words = ['--dir', join(folder, 'experiments'), 'runs', 'import', '--from', 'mlagentbench'];
  return spawn(process.execPath, ['--import', report, mlab, ...words, join(folder, 'logs')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

test('many large logs are imported with the memory of a few', async () => {
  const given = logs();
  const observation = 'a "b" \\ é\n'.repeat(1000);
  const trace = JSON.stringify({
    steps: Array.from({ length: 400 }, (_, at) => step(at, `${at}${observation}`)),
  });
  for (let run = 0; run < 12; run += 1) given.put(`../${run}/env_log/trace.json`, trace);
  const child = importing(given.folder);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000);
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  expect(Number(/peak (\d+)/.exec(said)?.[1]) / 1024).toBeLessThan(400);
}, 60_000);

test('Ctrl-C ends an import of many files within two seconds', async () => {
  const given = logs();
  for (let run = 0; run < 5; run += 1) {
    given.put(`../${run}/env_log/trace.json`, '{}');
    // A sparse file takes long to hash.
    execFileSync('mkdir', ['-p', given.path(`../${run}/env_log/traces/step_0_files`)]);
    execFileSync('truncate', ['-s', '7G', given.path(`../${run}/env_log/traces/step_0_files/holes`)]);
  }
  const child = importing(given.folder);
  const ended = once(child, 'close');
  await sleep(3000);
  expect(child.exitCode).toBeNull();
  const started = performance.now();
  child.kill('SIGINT');
  await ended;
  expect(performance.now() - started).toBeLessThan(2000);
}, 60_000);
