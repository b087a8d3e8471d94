import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { defineTarget, type FuzzTarget, type OpenTarget } from '../engine/target.ts';

const script = join(import.meta.dirname, '../python/readers.py');
const Answer = z.object({ fault: z.string().nullable(), covered: z.array(z.string()) });

/** A Python process that runs inputs, one after the other; replaced by a new one if an input ended it. */
class PythonReader implements OpenTarget {
  readonly #reader: string;
  readonly #folder: string;
  #process: { child: ChildProcess; answers: AsyncIterator<string> } | null = null;

  constructor(reader: string, folder: string) {
    this.#reader = reader;
    this.#folder = folder;
  }

  async run(input: Buffer): Promise<readonly string[]> {
    this.#process ??= this.#start();
    const { child, answers } = this.#process;
    const head = Buffer.alloc(4);
    head.writeUInt32BE(input.length);
    child.stdin?.write(Buffer.concat([head, input]));
    const answer = await answers.next();
    if (answer.done === true) {
      this.#process = null;
      throw new Error(`the Python process ended: ${child.signalCode ?? child.exitCode}`);
    }
    const { fault, covered } = Answer.parse(JSON.parse(answer.value));
    if (fault === null) return covered;
    throw new PythonFault(fault);
  }

  close(): void {
    this.#process?.child.kill('SIGKILL');
  }

  #start() {
    const child = spawn('python3', ['-X', 'utf8', script, this.#reader], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, FUZZ_FOLDER: this.#folder, PYTHONDONTWRITEBYTECODE: '1' },
    });
    child.stdin.on('error', () => {});
    return { child, answers: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  }
}

/** Its stack is Python's, so that faults can be distinguished. */
class PythonFault extends Error {
  override readonly name = 'PythonFault';

  constructor(trace: string) {
    const lines = trace.trim().split('\n');
    super(lines.at(-1) ?? '');
    const place = /File ".*\/([^/]+)", line (\d+), in (\w+)/.exec(
      lines.findLast((line) => /File "/.test(line)) ?? '',
    );
    this.stack = `${trace}\n    at ${place?.[3]} (/src/${place?.[1]}:${place?.[2]}:1)`;
  }
}

/** Why packages that a reader imports are missing, or null. The check takes seconds. */
function lacking(packages: readonly string[]): string | null {
  const look =
    'import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))';
  const { status } = spawnSync('python3', ['-c', look, ...packages]);
  return status === 0 ? null : `python3 has not all of ${packages.join(', ')}`;
}

function targetOf(reader: string, target: Omit<FuzzTarget, 'open' | 'batch' | 'name'>): FuzzTarget {
  return defineTarget({
    ...{ name: `python-${reader}`, batch: 1, milliseconds: (bytes) => 1_000 + bytes / 5, ...target },
    open: (folder) => new PythonReader(reader, folder),
  });
}

const row = (id: number) => `id${id},1.5,2,True,x\n`;
const head = (text: string) =>
  Buffer.from([...[0, 0, 0, 0, 0, 0], text.length >> 8, text.length & 255, ...Buffer.from(text)]);
const request = 'GET /search?q=graphs&n=3 HTTP/1.0\r\nHost: a\r\n\r\n';

export const pythonReaderTargets: readonly FuzzTarget[] = [
  targetOf('csv', {
    reads: 'CSV submissions, by the graders',
    maxBytes: 128 * 1024,
    seeds: [
      `id,y,n,t,free\n${Array.from({ length: 40 }, (_, id) => row(id)).join('')}`,
      'id,y,n,t,free\nid0,"1,5",2,TRUE,"a ""b"" c\nd"\n\nid1,nan,1.0,0,\n',
      ',id,y,n,t,free\n0,id0,1e400,-3,yes,x\n',
      '\ufeffid;y\n',
    ],
    words: [
      'id0',
      'id39',
      'id,y,n,t,free\n',
      ',',
      '"',
      '""',
      '\n',
      '\r',
      '\r\n',
      '"\n",',
      'nan',
      '-inf',
      '1e400',
      '1_0',
      '０',
      '\0',
      ' ',
    ],
  }),
  targetOf('frame', {
    reads: 'frames of a submission that is run, by the graders',
    seeds: [
      Buffer.concat([
        head('{"kind":"answer","values":{},"arrays":[{"dtype":"<f8","shape":[2]}]}'),
        Buffer.alloc(16),
      ]),
      head('{"kind":"error","values":{"message":"x"},"arrays":[]}'),
    ],
    words: [
      '"dtype":',
      '"<f4"',
      '"|u1"',
      '"shape":[',
      '0',
      '4294967296',
      '"kind":"x"',
      '"values":{}',
      '"arrays":[]',
      '1e3',
      'true',
      '\0\0\0\0\0\0\0',
    ],
  }),
  targetOf('layout', {
    reads: 'settings, tokenizer and weights of a language model, by their grader',
    seeds: [
      Buffer.concat([
        Buffer.from('{"model_type":"gpt2"}\n===\n{}\n===\n'),
        Buffer.from([14, 0, 0, 0, 0, 0, 0, 0]),
        Buffer.from('{"a":{"b":[]}}'),
      ]),
    ],
    words: ['\n===\n', '{}', '[', '1e999', 'NaN', '"\\ud800"', '\xff\xfe'],
  }),
  targetOf('config', {
    reads: 'settings of a network, by their grader',
    seeds: ['{"hidden":64,"processor":"attention","heads":8,"gated":false,"hints":"none"}'],
    words: [
      '"hidden"',
      '"heads"',
      '"triplets"',
      '"gated"',
      '"layer_norm"',
      '"processor"',
      '"neighbours"',
      '"feedback"',
      'true',
      '1e2',
      'NaN',
      '64.0',
    ],
  }),
  targetOf('weights', {
    reads: 'settings and weights of a network, by their grader',
    obstacle: () => lacking(['numpy', 'torch', 'safetensors']),
    milliseconds: (bytes) => 5_000 + bytes / 5,
    // After the settings: changes in the header of matching weights, or a whole header; then the numbers.
    seeds: [
      '{"hidden":4,"triplets":0,"hints":"none"}\n===\n{}\n===\n\0\0\0\0',
      '{"hidden":4,"triplets":1,"message_layers":0}\n===\n{"__metadata__":{"format":"pt"}}\n===\n\0\0\x80\x3f',
      '{"hidden":4}\n===\n{"encode_nodes.bias":{"dtype":"F16","shape":[8],"data_offsets":[0,16]}}\n===\n\0',
      '{"hidden":4}\n===\n{"encode_nodes.bias":null}\n===\n\0\0\xc0\x7f',
      '{}\n===\n {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}\n===\nabcd',
    ].map((seed) => Buffer.from(seed, 'latin1')),
    words: [
      '\n===\n',
      '"encode_nodes.weight":',
      '"dtype":',
      ...['F64', 'F32', 'BF16', 'F8_E4M3', 'F4', 'F6_E2M3', 'F8_E8M0', 'U64', 'I8', 'BOOL', 'C64'].map(
        (type) => `"${type}"`,
      ),
      '"shape":[',
      '"data_offsets":[',
      '18446744073709551615',
      '9223372036854775807',
      '-1',
      '0',
      '[]',
      'null',
    ],
  }),
  targetOf('module', {
    reads: 'names that a submitted module defines',
    maxBytes: 8 * 1024,
    seeds: [
      'import os as o\nfrom a import *\nx = (y, z) = 1\nif x:\n  def f(): pass\ntry: pass\nexcept E as e: g = 1\nmatch x:\n  case [a]: h: int = 2\n',
    ],
    words: [
      'def f():\n',
      'class A: ',
      'import ',
      ' as ',
      'global x\n',
      'with a as b:\n',
      'for i in j:\n',
      'else:\n',
      'lambda: ',
      '# coding: utf-7\n',
      '\f',
    ],
  }),
  targetOf('request', {
    reads: "requests of agents to a task's local service",
    maxBytes: 16 * 1024,
    seeds: [
      request,
      'GET / HTTP/0.9\r\n',
      'POST /search HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc',
      'GET //[ HTTP/1.0\r\n\r\n',
    ],
    words: [
      'GET ',
      'HEAD ',
      ' HTTP/1.0',
      ' HTTP/9.9',
      '\r\n',
      '?q=',
      '&',
      '%',
      '%ff',
      '//[',
      ';',
      'http://[::1',
      'Expect: 100-continue\r\n',
    ],
  }),
];
