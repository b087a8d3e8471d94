import { readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { type Agent, speaksAcp } from '../../agents/index.ts';
import { replaceFile } from '../../lib/atomic-file.ts';
import { listenToCallers } from '../../lib/open-to-readers.ts';
import type { RunRecord, RunSpec } from '../../schema/index.ts';
import { historyOf, lastSnapshot, type RunFolder, readTraceSync } from '../../store/index.ts';

/** More than the starter sends, see python/outside/start.py. */
const maxBytes = 2 ** 26;
/** A program that prevents its starter from answering has no session. */
const longestSaveMs = 5_000;

/**
 * The session of a program after a step, as a tar archive that is only opened in the program's sandbox; null if none
 * was saved.
 */
export function savedSession(folder: RunFolder, step: number): string | null {
  const name = nameOf(step);
  return namesIn(folder).includes(name) ? join(sessionsOf(folder), name) : null;
}

/**
 * Whether a program whose run was interrupted can continue it with its own session, from the last step that it
 * finished.
 */
export function canContinue(
  { program }: Agent,
  { agent_options: options }: RunSpec,
  folder: RunFolder,
  { status }: RunRecord,
): boolean {
  // A program can cause a failure, and must not repeat its last request for ever.
  if (program?.session === undefined || speaksAcp(program, options) || status === 'failed') return false;
  const last = lastSnapshot(historyOf(readTraceSync(folder.tracePath).events, 'main'));
  return last !== null && savedSession(folder, last.step) !== null;
}

/** Whether a program that keeps a session has finished no step yet, so that there was nothing to continue. */
export function hasNoStepYet(
  { program }: Agent,
  { agent_options: options }: RunSpec,
  folder: RunFolder,
): boolean {
  if (program?.session === undefined || speaksAcp(program, options)) return false;
  if (!folder.hasTrace()) return true;
  return (lastSnapshot(historyOf(readTraceSync(folder.tracePath).events, 'main'))?.step ?? 0) === 0;
}

export function discardSessions(folder: RunFolder): void {
  rmSync(sessionsOf(folder), { recursive: true, force: true });
}

/** Saves the session of a running program beside its run. The program's starter sends it to a socket on request. */
export class SessionSaver implements AsyncDisposable {
  readonly #folder: RunFolder;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #received: ((content: Buffer | null) => void) | null = null;

  /** @param socket path of a Unix socket that the program's sandbox can see */
  static async listen(socket: string, folder: RunFolder): Promise<SessionSaver> {
    const saver = new SessionSaver(folder);
    await listenToCallers(saver.#server, socket);
    return saver;
  }

  private constructor(folder: RunFolder) {
    this.#folder = folder;
    this.#server = createServer((connection) => this.#receive(connection));
    this.#server.maxConnections = 1;
  }

  /**
   * Keeps the session after a step, and replaces earlier ones. Without a session, the run starts over after a kill.
   * @param ask tells the starter to send it
   * @param over aborted when the program is to end
   */
  async save(step: number, ask: () => void, over: AbortSignal): Promise<void> {
    const received = Promise.withResolvers<Buffer | null>();
    const giveUp = () => received.resolve(null);
    this.#received = received.resolve;
    const late = AbortSignal.any([over, AbortSignal.timeout(longestSaveMs)]);
    late.addEventListener('abort', giveUp, { once: true });
    if (late.aborted) giveUp();
    ask();
    const content = await received.promise;
    late.removeEventListener('abort', giveUp);
    this.#received = null;
    this.#folder.lease?.verify();
    const name = nameOf(step);
    if (content !== null && content.length > 0)
      await replaceFile(join(sessionsOf(this.#folder), name), content);
    for (const other of namesIn(this.#folder))
      if (other !== name) rmSync(join(sessionsOf(this.#folder), other), { force: true });
  }

  /** Each connection sends one session: a line with its length, then the archive. */
  #receive(connection: Socket): void {
    this.#open.add(connection);
    const pieces: Buffer[] = [];
    let bytes = 0;
    connection.on('data', (piece) => {
      bytes += piece.length;
      if (bytes > maxBytes + 16 || this.#received === null) connection.destroy();
      else pieces.push(piece);
    });
    connection.on('error', () => connection.destroy());
    connection.once('end', () => this.#received?.(contentOf(Buffer.concat(pieces))));
    connection.once('close', () => this.#open.delete(connection));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#open) connection.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Null if it is incomplete. */
function contentOf(received: Buffer): Buffer | null {
  const end = received.indexOf('\n');
  const content = received.subarray(end + 1);
  return end > 0 && received.subarray(0, end).toString('latin1') === String(content.length) ? content : null;
}

function sessionsOf({ folder }: RunFolder): string {
  return join(folder, 'agent-session');
}

function nameOf(step: number): string {
  return `${step}.tar`;
}

function namesIn(folder: RunFolder): string[] {
  try {
    return readdirSync(sessionsOf(folder));
  } catch {
    return [];
  }
}
