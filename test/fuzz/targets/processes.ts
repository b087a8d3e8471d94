import { OutputStream } from '../../../src/environment/output-stream.ts';
import { ReplSession } from '../../../src/environment/repl-session.ts';
import { GraderProtocol } from '../../../src/grading/grader-protocol.ts';
import type { SubmissionWorker } from '../../../src/grading/submission-worker.ts';
import type { ProcessEnd, Sandbox, SandboxProcess } from '../../../src/sandbox/index.ts';
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
        unreadBytes: 0,
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
      for (let at = 0; at < written.length; at += 1000) protocol.receive(written.subarray(at, at + 1000));
      await protocol.settled();
      hold((protocol.fault === null) === (killed === 0), 'whoever is at fault is stopped');
      for (const [name, { submission, valid, score }] of protocol.results) {
        hold(name === submission && valid === (score !== null), 'a result is of its submission, and whole');
        hold(score === null || Number.isFinite(score), 'a score is a number');
      }
    },
  }),
});

const ended: ProcessEnd = {
  ...{ ending: 'exited', exitCode: 0, signal: null, durationMs: 1, peakMemoryBytes: null, cpuSeconds: null },
};

export const replTarget = defineTarget({
  name: 'repl-output',
  reads: "what the agent's interpreter prints",
  seeds: [
    'out\n\nTOKEN ok\nmore',
    '\nTOKEN failed\n',
    'a\nTOKE\n\nTOKEN \n',
    `${'\n'.repeat(20_000)}`,
    '\nTOKEN ',
  ],
  words: ['TOKEN', '\nTOKEN ok\n', '\nTOKEN failed\n', '\n', '\nTOK', 'TOKEN ok', ' ok'],
  batch: 16,
  open: () => ({
    async run(input) {
      const process = new MadeUpInterpreter(input);
      const sandbox = {
        start: async (_: unknown, { onOutput }: { onOutput: (chunk: Buffer) => void }) =>
          process.begin(onOutput),
      };
      const session = await ReplSession.start(
        sandbox as unknown as Sandbox,
        'repl.py',
        new AbortController().signal,
      );
      const answer = await session.run('1', new OutputStream({ onText: null, whole: null }), 20_000);
      hold(answer.output.length < 30_000, 'an observation is bounded');
      const text = process.printed;
      if (text.includes(`\n${process.token} ok\n`))
        hold(answer.kind === 'answered', 'the end of a command is seen');
    },
  }),
});

/** Prints the input in pieces once it gets a command, then ends. `TOKEN` in it stands for the command's own token. */
class MadeUpInterpreter implements SandboxProcess {
  readonly unreadBytes = 0;
  readonly ended: Promise<ProcessEnd>;
  printed = '';
  token = '';
  readonly #input: Buffer;
  #onOutput: (chunk: Buffer) => void = () => {};
  #end: () => void = () => {};

  constructor(input: Buffer) {
    this.#input = input;
    this.ended = new Promise((resolve) => {
      this.#end = () => resolve(ended);
    });
  }

  begin(onOutput: (chunk: Buffer) => void): this {
    this.#onOutput = onOutput;
    return this;
  }

  write(data: string | Uint8Array): void {
    this.token = String(JSON.parse(String(data)).end);
    this.printed = this.#input.toString('utf8').replaceAll('TOKEN', this.token);
    const bytes = Buffer.from(this.printed);
    const size = 1 + (bytes.length % 700);
    for (let at = 0; at < bytes.length; at += size) this.#onOutput(bytes.subarray(at, at + size));
    setImmediate(this.#end);
  }

  endInput(): void {}

  async kill(): Promise<ProcessEnd> {
    return ended;
  }

  async usage() {
    return { cpuSeconds: 0, peakMemoryBytes: 0 };
  }
}
