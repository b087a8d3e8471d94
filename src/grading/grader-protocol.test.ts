import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SandboxProcess } from '../sandbox/index.ts';
import { GraderProtocol } from './grader-protocol.ts';
import type { SubmissionWorker } from './submission-worker.ts';

/** A protocol, and all that the grader is told on its standard input. */
function listening() {
  const told: string[] = [];
  let killed = false;
  const ended = new Promise<never>(() => {});
  const process: Partial<SandboxProcess> = {
    write: (data) => void told.push(String(data)),
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
  const word = told.shift()?.trim() ?? '';
  return { protocol, word, told, wasKilled: () => killed };
}

const result = (submission: string) => ({ submission, valid: true, score: 1, problems: [] });
const grading = (submission: string) => JSON.stringify({ message: 'grading', submission });
const gave = (submission: string) => JSON.stringify({ message: 'result', result: result(submission) });

describe('what reaches the pipe of a grader', () => {
  test('is read whole, however it is cut into pieces, and whatever lies between its messages', () => {
    const noise = fc.string().map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(noise, fc.array(fc.nat(400), { maxLength: 8 }), (between, cuts) => {
        const { protocol, word } = listening();
        const names = ['a', 'ü', 'c'];
        const text = names
          .map((name) => `${between}\n${word} ${grading(name)}\n${gave('forged')}\n${word} ${gave(name)}\n`)
          .join('');
        const bytes = Buffer.from(text);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        for (const [index, place] of places.entries())
          protocol.hear(bytes.subarray(places[index - 1] ?? 0, place));
        expect([...protocol.results.keys()]).toEqual(names);
        expect(protocol.fault).toBeNull();
      }),
    );
  });

  test('is no message without the word that this grader was given', () => {
    const { protocol, word } = listening();
    const { word: another } = listening();
    expect(word).not.toBe(another);
    for (const start of ['', 'x ', `${another} `, ` ${word} `, word]) {
      protocol.hear(Buffer.from(`${start}${grading('a')}\n${start}${gave('a')}\n`));
    }
    expect(protocol.results.size).toBe(0);
    expect(protocol.current).toBeNull();
  });

  test('stops the grader when it is of no use: no JSON, an unknown message, a result of no submission, too much', () => {
    const messages = [
      'no JSON',
      '{"message": "win"}',
      gave('a'),
      `${grading('a')}\nWORD ${JSON.stringify({ message: 'result', result: { ...result('a'), score: null } })}`,
    ];
    for (const message of messages) {
      const { protocol, word, wasKilled } = listening();
      protocol.hear(Buffer.from(`${word} ${message.replace('WORD', word)}\n`));
      expect(protocol.fault, message).not.toBeNull();
      expect(wasKilled(), message).toBe(true);
      protocol.hear(Buffer.from(`${word} ${grading('b')}\n${word} ${gave('b')}\n`));
      expect(protocol.results.size, message).toBe(0);
    }
    const { protocol, wasKilled } = listening();
    for (let count = 0; count < 65; count += 1) protocol.hear(Buffer.alloc(2 ** 20));
    expect(protocol.fault).toContain('bytes');
    expect(wasKilled()).toBe(true);
  });

  test('that asks for something is answered in order, with why a process was ended', async () => {
    const { protocol, word, told } = listening();
    const asked = [
      { message: 'start_worker', submission: 'a' },
      { message: 'stop_worker', gone: true },
    ];
    for (const one of asked) protocol.hear(Buffer.from(`${word} ${JSON.stringify(one)}\n`));
    await protocol.settled();
    expect(told.map((line) => JSON.parse(line))).toEqual([
      { ok: true, ended: null },
      { ok: true, ended: { code: 'timed_out', message: 'too long' } },
    ]);
  });
});
