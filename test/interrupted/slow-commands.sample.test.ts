import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInSandbox } from '../fixtures/needs-sandbox.ts';
import { interrupt, slowCommands, usualMoments } from './slow-commands.ts';
import { SlowPlace } from './slow-place.ts';

const worst = ['verify', 'judge', 'runs restore'];

/** It takes 2 s at most (`npm run bench -- stop`); with other tests some more. */
const maxSeconds = 20;

describeInSandbox('Ctrl-C', () => {
  const place = new SlowPlace();
  beforeAll(() => place.make('runs'), 300_000);
  afterAll(() => place[Symbol.asyncDispose](), 60_000);

  test.each(slowCommands.filter((command) => worst.includes(command.verb)))(
    'ends mlab $verb, busy with $busy, and leaves nothing',
    async (command) => {
      const moments = command.moments ?? usualMoments;
      const { seconds, code, left } = await interrupt(command, place, moments[moments.length >> 1] ?? 1);
      expect(left).toEqual([]);
      // On a fast machine it may have ended before.
      if (seconds === null) return;
      expect([130, command.code]).toContain(code);
      expect(seconds).toBeLessThan(maxSeconds);
    },
  );
});
