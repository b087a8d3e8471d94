import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { createSandbox, type SandboxOptions } from './create-sandbox.ts';
import {
  type ProcessEnd,
  type Sandbox,
  SandboxError,
  type SandboxSpec,
  type StartOptions,
} from './sandbox.ts';

const mebibyte = 2 ** 20;

/** A run's folders on the host: a workspace to write to, data to read. */
export interface Place extends Disposable {
  root: string;
  workspace: string;
  data: string;
  /** Writes a file below the root and returns its path. */
  file(path: string, content: string): string;
  spec(changes?: Partial<SandboxSpec>): SandboxSpec;
}

export function makePlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-test-')));
  const workspace = join(root, 'workspace');
  const data = join(root, 'data');
  mkdirSync(workspace);
  mkdirSync(data);
  const place: Place = {
    root,
    workspace,
    data,
    file: (path, content) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
      return join(root, path);
    },
    spec: (changes = {}) => ({ ...specOf(workspace, data), ...changes }),
    [Symbol.dispose]: () => removeTree(root),
  };
  place.file('data/train.csv', 'id,label\n1,0\n');
  return place;
}

function specOf(workspace: string, data: string): SandboxSpec {
  return {
    mounts: [
      { source: workspace, target: '/workspace', access: 'write' },
      { source: data, target: '/workspace/data', access: 'read' },
    ],
    hide: [],
    withheld: [],
    concealed: [],
    workingDirectory: '/workspace',
    variables: {},
    python: null,
    limits: {
      memoryBytes: 256 * mebibyte,
      processes: 40,
      fileBytes: 64 * mebibyte,
      temporaryBytes: 16 * mebibyte,
    },
    watch: { folder: workspace, maxBytes: 128 * mebibyte },
  };
}

export interface Finished extends ProcessEnd {
  output: string;
}

/** Runs a shell script to its end. */
export async function run(
  sandbox: Sandbox,
  script: string,
  options: Partial<StartOptions> = {},
): Promise<Finished> {
  return runProgram(sandbox, ['/bin/sh', '-c', script], options);
}

export async function runProgram(
  sandbox: Sandbox,
  argv: readonly [string, ...string[]],
  options: Partial<StartOptions> = {},
): Promise<Finished> {
  const chunks: Buffer[] = [];
  const process = await sandbox.start(argv, {
    stdin: 'none',
    timeoutMs: 20_000,
    signal: null,
    onOutput: (chunk) => chunks.push(chunk),
    ...options,
  });
  const end = await process.ended;
  return { ...end, output: Buffer.concat(chunks).toString() };
}

/** Why this driver can't be tested here, or null. */
export async function obstacleTo(
  driver: 'bubblewrap' | 'docker',
  options: SandboxOptions = {},
): Promise<string | null> {
  using place = makePlace();
  try {
    await using sandbox = await createSandbox(driver, place.spec(), options);
    await run(sandbox, 'true');
    return null;
  } catch (error) {
    if (SandboxError.isInstance(error)) return error.message;
    throw error;
  }
}
