import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasCode, messageOf, UserError } from '../../lib/errors.ts';
import type { ObjectId } from '../../schema/index.ts';
import {
  encodePath,
  isOwnFolder,
  plainName,
  readSnapshot,
  showPath,
  withoutRepositories,
} from '../../store/index.ts';
import type { BegunRun, ExportedRun, ExportedStep } from './exported-run.ts';

const person = 'mlagentbench <mlagentbench@localhost>';
const maxText = 2000;

/**
 * Writes a bare repository at `out`, an empty folder: one branch per run, one commit per step. The user's git settings
 * are ignored, no hook runs and nothing is checked out, so the same runs give the same hashes and no content does harm.
 * @throws UserError `no_git`, `git_failed`
 */
export async function writeRepository(
  begun: readonly BegunRun[],
  runs: AsyncIterable<ExportedRun>,
  out: string,
  variables: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<void> {
  const [first] = begun;
  const branch = first === undefined ? 'main' : branchOf(first);
  const init = [
    'init',
    '--quiet',
    '--bare',
    '--template=',
    '--object-format=sha1',
    `--initial-branch=${branch}`,
  ];
  await git([...init, out], null, variables, signal);
  const importing = ['-C', out, '-c', 'core.fsync=none', 'fast-import', '--quiet', '--done'];
  await git(importing, commandsOf(runs), variables, signal);
}

const maxErrorText = 4_000;

async function git(
  args: readonly string[],
  input: AsyncIterable<Buffer> | null,
  variables: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn('git', args, {
    env: cleanVariables(variables),
    stdio: ['pipe', 'ignore', 'pipe'],
    signal,
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-maxErrorText);
  });
  try {
    const ended = once(child, 'close');
    // A git process that died explains why on standard error; the broken pipe adds nothing.
    const fed = pipeline(Readable.from(input ?? []), child.stdin, { signal }).catch(
      (error: unknown) => error,
    );
    const [code] = await ended;
    const fault = await fed;
    signal.throwIfAborted();
    if (code !== 0 || (fault !== undefined && !hasCode(fault, 'EPIPE')))
      throw gitFailed(said.trim() || messageOf(fault));
  } catch (error) {
    signal.throwIfAborted();
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new UserError('no_git', 'git is not installed.', 'Install git, or use another format.', {
      cause: error,
    });
  }
}

function gitFailed(message: string): UserError {
  return new UserError(
    'git_failed',
    `git could not write the repository: ${message}`,
    'Give another --out folder.',
  );
}

/** PATH and the like, without any variable that configures git. */
function cleanVariables(variables: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return {
    PATH: variables.PATH,
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
}

async function* commandsOf(runs: AsyncIterable<ExportedRun>): AsyncGenerator<Buffer> {
  const marks = new Map<ObjectId, number>();
  for await (const run of runs) {
    yield Buffer.from(`reset refs/heads/${branchOf(run)}\n\n`);
    const { started, steps, end } = run;
    if (started !== null) {
      yield* commit(run, marks, started.snapshot, started.time, 'Before the first step\n');
    }
    for (const step of steps)
      yield* commit(run, marks, step.finished.snapshot, step.finished.time, messageOfStep(step));
    if (end?.snapshot)
      yield* commit(run, marks, end.snapshot, end.time, `End: ${end.reason}\n\n${end.message}\n`);
  }
  yield Buffer.from('done\n');
}

/** A valid git branch name: our ids, except those with one suffix. */
function branchOf({ folder }: BegunRun): string {
  return folder.id.replace(/\.lock$/, '-lock');
}

async function* commit(
  run: ExportedRun,
  marks: Map<ObjectId, number>,
  snapshot: ObjectId,
  time: number,
  message: string,
): AsyncGenerator<Buffer> {
  const { objects } = run.folder;
  const files: Buffer[] = [];
  const { kept, leftOut } = withoutRepositories(readSnapshot(objects, snapshot).entries);
  for (const entry of kept) {
    // Git has no empty folders; the others come with their files.
    if ('folder' in entry) continue;
    if (!canHold(entry.path, 'link' in entry)) leftOut.push(entry.path);
    else if ('link' in entry) {
      const target = Buffer.from(encodePath(entry.link) ?? entry.link);
      files.push(Buffer.from(`M 120000 inline ${quotedPath(entry.path)}\n`), data(target));
    } else {
      const mark = marks.get(entry.object) ?? marks.size + 1;
      if (!marks.has(entry.object)) {
        marks.set(entry.object, mark);
        yield Buffer.from(`blob\nmark :${mark}\ndata ${entry.size}\n`);
        // Git obeys what follows: a content with more bytes than announced must not reach it.
        for await (const chunk of objects.openReadStream(entry.object, entry.size)) yield chunk as Buffer;
        yield Buffer.from('\n');
      }
      const mode = entry.mode & 0o100 ? '100755' : '100644';
      files.push(Buffer.from(`M ${mode} :${mark} ${quotedPath(entry.path)}\n`));
    }
  }
  const when = `${person} ${Math.max(0, Math.floor(time / 1000))} +0000`;
  yield Buffer.from(`commit refs/heads/${branchOf(run)}\nauthor ${when}\ncommitter ${when}\n`);
  yield data(Buffer.from(harmless(message + leftOutText(leftOut))));
  yield Buffer.from('deleteall\n');
  yield Buffer.concat(files);
  yield Buffer.from('\n');
}

function data(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]);
}

/** Non-ASCII bytes are written as octal numbers, so that any name is one line. */
function quotedPath(path: string): string {
  const bytes = Buffer.from(encodePath(path) ?? path);
  const text = [...bytes].map((byte) => {
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    return isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${text.join('')}"`;
}

/** Git refuses names that some file system could take for its own folder, and links in place of its own files. */
function canHold(path: string, isLink: boolean): boolean {
  return path.split('/').every((name) => {
    if (isOwnFolder(name)) return false;
    return !(isLink && /^(?:\.git|gi)|^\.mailmap/.test(plainName(name)));
  });
}

function leftOutText(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  return `\nLeft out, because git would take it for its own:\n${paths.map((path) => `  ${showPath(path)}\n`).join('')}`;
}

function messageOfStep({ step, action, args, observation, finished }: ExportedStep): string {
  const title = `Step ${step}: ${action.replaceAll(/\s+/g, ' ').slice(0, 60)} (${finished.status})`;
  return `${title}\n\n${cut(JSON.stringify(args, null, 1))}\n\n${cut(observation)}\n`;
}

function cut(text: string): string {
  return text.length <= maxText ? text : `${text.slice(0, maxText)} …`;
}

/** Without characters that a terminal would obey. */
function harmless(text: string): string {
  return text.toWellFormed().replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\ufffd');
}
