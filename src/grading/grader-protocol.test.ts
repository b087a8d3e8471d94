import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SandboxProcess } from '../sandbox/index.ts';
import { GraderProtocol } from './grader-protocol.ts';
import type { SubmissionWorker } from './submission-worker.ts';

/** A protocol, and everything that the grader receives on its standard input. */
function listening() {
  const reported: string[] = [];
  let killed = false;
  const ended = new Promise<never>(() => {});
  const process: Partial<SandboxProcess> = {
    write: (data) => void reported.push(String(data)),
    kill: () => {
      killed = true;
      return ended;
    },
  };
  const worker: Partial<SubmissionWorker> = {
    start: async () => null,
    stop: async () => ({ code: 'timed_out', message: 'too long' }),
  };
  const protocol = new GraderProtocol({
    process: process as SandboxProcess,
    worker: worker as SubmissionWorker,
    folderOf: (name) => name,
    onNext: () => {},
  });
  const secret = reported.shift()?.trim() ?? '';
  return { protocol, secret, reported, wasKilled: () => killed };
}

const result = (submission: string) => ({ submission, valid: true, score: 1, problems: [] });
const grading = (submission: string) => JSON.stringify({ message: 'grading', submission });
const gave = (submission: string) => JSON.stringify({ message: 'result', result: result(submission) });

describe('the text in the pipe of a grader', () => {
  test('is read whole, however it is split, and whatever is between its messages', () => {
    const noise = fc.string().map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(noise, fc.array(fc.nat(400), { maxLength: 8 }), (between, cuts) => {
        const { protocol, secret } = listening();
        const names = ['a', 'ü', 'c'];
        const text = names
          .map(
            (name) => `${between}\n${secret} ${grading(name)}\n${gave('forged')}\n${secret} ${gave(name)}\n`,
          )
          .join('');
        const bytes = Buffer.from(text);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        for (const [index, place] of places.entries())
          protocol.receive(bytes.subarray(places[index - 1] ?? 0, place));
        expect([...protocol.results.keys()]).toEqual(names);
        expect(protocol.fault).toBeNull();
      }),
    );
  });

  test('is not a message without the secret of this grader', () => {
    const { protocol, secret } = listening();
    const { secret: another } = listening();
    expect(secret).not.toBe(another);
    for (const start of ['', 'x ', `${another} `, ` ${secret} `, secret]) {
      protocol.receive(Buffer.from(`${start}${grading('a')}\n${start}${gave('a')}\n`));
    }
    expect(protocol.results.size).toBe(0);
    expect(protocol.current).toBeNull();
  });

  test('stops the grader if it is invalid: not JSON, an unknown message, a result of no submission, too long', () => {
    const messages = [
      'no JSON',
      '{"message": "win"}',
      gave('a'),
      `${grading('a')}\nWORD ${JSON.stringify({ message: 'result', result: { ...result('a'), score: null } })}`,
    ];
    for (const message of messages) {
      const { protocol, secret, wasKilled } = listening();
      protocol.receive(Buffer.from(`${secret} ${message.replace('WORD', secret)}\n`));
      expect(protocol.fault, message).not.toBeNull();
      expect(wasKilled(), message).toBe(true);
      protocol.receive(Buffer.from(`${secret} ${grading('b')}\n${secret} ${gave('b')}\n`));
      expect(protocol.results.size, message).toBe(0);
    }
    const { protocol, wasKilled } = listening();
    for (let count = 0; count < 65; count += 1) protocol.receive(Buffer.alloc(2 ** 20));
    expect(protocol.fault).toContain('bytes');
    expect(wasKilled()).toBe(true);
  });

  test('is answered in order if it is a request, with the reason why a process was ended', async () => {
    const { protocol, secret, reported } = listening();
    const asked = [
      { message: 'start_worker', submission: 'a' },
      { message: 'stop_worker', gone: true },
    ];
    for (const one of asked) protocol.receive(Buffer.from(`${secret} ${JSON.stringify(one)}\n`));
    await protocol.settled();
    expect(reported.map((line) => JSON.parse(line))).toEqual([
      { ok: true, ended: null },
      { ok: true, ended: { code: 'timed_out', message: 'too long' } },
    ]);
  });
});
