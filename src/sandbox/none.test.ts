import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../../test/fixtures/until.ts';
import { isProcessAlive } from '../lib/process-identity.ts';
import { createSandbox } from './create-sandbox.ts';
import { makePlace, type Place, run } from './test-support.ts';

describe('the driver none', () => {
  it.each([
    ['as its source does', 'fixed\n'],
    ['changed', 'changed by an earlier command\n'],
  ])(
    'leaves a read-only file of the workspace in place %s, with the content of its source',
    async (_, content) => {
      using place = makePlace();
      const source = place.file('starter/fixed.txt', 'fixed\n');
      const file = join(place.workspace, 'fixed.txt');
      writeFileSync(file, content);
      const { mounts, ...rest } = place.spec();
      const fixed = { source, target: '/workspace/fixed.txt', access: 'read' as const };
      const sandbox = await createSandbox('none', { ...rest, mounts: [...mounts, fixed] });
      expect(readFileSync(file, 'utf8')).toBe('fixed\n');
      await sandbox[Symbol.asyncDispose]();
      expect(readFileSync(file, 'utf8')).toBe('fixed\n');
    },
  );

  it('removes nothing but its own placeholders for a mount', async () => {
    using place = makePlace();
    place.file('workspace/data/mine.csv', '1\n');
    await expect(createSandbox('none', place.spec())).rejects.toThrow('in the way');
    expect(readFileSync(join(place.workspace, 'data/mine.csv'), 'utf8')).toBe('1\n');
  });

  it('leaves no link of an earlier mount if a later mount fails', async () => {
    using place = makePlace();
    const { mounts, ...rest } = place.spec();
    const blocked = { source: place.data, target: '/workspace/blocked', access: 'read' as const };
    place.file('workspace/blocked/mine.csv', '1\n');
    const made = createSandbox('none', { ...rest, mounts: [...mounts, blocked] });
    await expect(made).rejects.toThrow('in the way');
    expect(readdirSync(place.workspace)).toEqual(['blocked']);
  });

  it("leaves another sandbox's command alone when its own ends", async () => {
    using onePlace = makePlace();
    using otherPlace = makePlace();
    await using one = await createSandbox('none', onePlace.spec());
    await using other = await createSandbox('none', otherPlace.spec());
    const script = ': > started; until [ -e ended ]; do sleep 0.02; done';
    const longer = run(other, script);
    await vi.waitUntil(() => existsSync(join(otherPlace.workspace, 'started')), { timeout: 10_000 });
    await run(one, 'true');
    otherPlace.file('workspace/ended', '');
    expect(await longer).toMatchObject({ ending: 'exited', exitCode: 0, signal: null });
  });

  describe('without control groups', () => {
    /** A harness in whose sandbox a command runs that ignores SIGTERM, until `end` of its program. */
    function harness(place: Place, end: string) {
      const from = (module: string) => JSON.stringify(join(import.meta.dirname, module));
      const script = "trap '' TERM; echo $$ > started; while :; do sleep 0.05; done";
      const program = `
        import { existsSync } from 'node:fs';
        import { setTimeout as sleep } from 'node:timers/promises';
        import { createSandbox } from ${from('create-sandbox.ts')};
        import { run } from ${from('test-support.ts')};
        const spec = ${JSON.stringify(place.spec())};
        const sandbox = await createSandbox('none', spec, { limits: 'rlimits' });
        if (process.argv[1] === 'only open') process.exit();
        void run(sandbox, ${JSON.stringify(script)});
        while (!existsSync(${JSON.stringify(join(place.workspace, 'started'))})) await sleep(10);
        ${end}
      `;
      return (...argv: string[]) =>
        spawnSync(process.execPath, ['--input-type=module', '-e', program, ...argv], { encoding: 'utf8' });
    }

    const commandOf = (place: Place) => Number(readFileSync(join(place.workspace, 'started'), 'utf8'));

    it('ends its commands with the harness, also those that ignore SIGTERM', async () => {
      using place = makePlace();
      const started = harness(place, 'process.exit(130);');
      expect(started()).toMatchObject({ status: 130, stderr: '' });
      await until('the command has ended', () => !isProcessAlive(commandOf(place), null), 10);
    });

    it('ends those of a harness that was killed before a command of another one starts', async () => {
      using place = makePlace();
      const started = harness(place, "process.kill(process.pid, 'SIGKILL');");
      expect(started().signal).toBe('SIGKILL');
      expect(isProcessAlive(commandOf(place), null)).toBe(true);
      rmSync(join(place.workspace, 'data'));
      expect(started('only open')).toMatchObject({ status: 0, stderr: '' });
      await until('the command has ended', () => !isProcessAlive(commandOf(place), null), 10);
    });
  });
});
