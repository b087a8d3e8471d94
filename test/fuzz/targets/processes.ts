import { GraderProtocol } from '../../../src/grading/grader-protocol.ts';
import type { SubmissionWorker } from '../../../src/grading/submission-worker.ts';
import type { ProcessEnd, SandboxProcess } from '../../../src/sandbox/index.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

const result = { submission: 'a', valid: true, score: 1, problems: [], details: {} };

export const graderTarget = defineTarget({
  name: 'grader-messages',
  reads: 'what comes over the pipe of a grader',
  seeds: [
    'WORD {"message":"grading","submission":"a"}\n',
    `WORD {"message":"grading","submission":"a"}\nWORD ${JSON.stringify({ message: 'result', result })}\n`,
    'WORD {"message":"start_worker","submission":"a"}\nWORD {"message":"stop_worker","gone":true}\nnoise\n',
  ],
  words: [
    'WORD ',
    '\n',
    '"message":',
    '"grading"',
    '"result"',
    '"start_worker"',
    '"submission":"a"',
    '"score":',
    '"valid":',
    '"problems":',
    'null',
  ],
  open: () => ({
    async run(input) {
      let word = '';
      let killed = 0;
      const process: SandboxProcess = {
        ended: new Promise<ProcessEnd>(() => {}),
        write: (data) => {
          word ||= String(data).trim();
        },
        endInput() {},
        kill: () => {
          killed += 1;
          return new Promise<ProcessEnd>(() => {});
        },
        usage: async () => ({ cpuSeconds: 0, peakMemoryBytes: 0 }),
      };
      const worker = { start: async () => null, stop: async () => null };
      const protocol = new GraderProtocol({
        ...{ process, worker: worker as unknown as SubmissionWorker, folderOf: (name) => name, onNext() {} },
      });
      const written = Buffer.from(input.toString('latin1').replaceAll('WORD', word), 'latin1');
      for (let at = 0; at < written.length; at += 1000) protocol.hear(written.subarray(at, at + 1000));
      await protocol.settled();
      hold((protocol.fault === null) === (killed === 0), 'whoever is at fault is stopped');
      for (const [name, { submission, valid, score }] of protocol.results) {
        hold(name === submission && valid === (score !== null), 'a result is of its submission, and whole');
        hold(score === null || Number.isFinite(score), 'a score is a number');
      }
    },
  }),
});
