import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { type Mount, ownedSocketFolder, type PythonMount, type Sandbox } from '../../sandbox/index.ts';
import type { RunSpec } from '../../schema/index.ts';
import type { Bundle } from './bundle.ts';

/** The path of the program's things in its sandbox. */
const inside = '/mlab-agent';
const bundleInside = `${inside}/bundle`;
const filesInside = `${inside}/files`;
const nodeInside = `${inside}/node`;
const runInside = `${inside}/run`;
const socketName = 'models.sock';
const briefName = 'brief.md';
const sessionSocketName = 'session.sock';
const sessionName = 'session.tar';
/** Any port will do, because the sandbox has its own network. */
const portInside = 4080;

export interface ProgramSettingParts {
  program: Program;
  bundle: Bundle | null;
  spec: RunSpec;
  /** The program's description of the task. */
  brief: string;
  /** Folders whose files the program must not see, even if they are named explicitly. */
  hidden: readonly string[];
}

/** What a run's sandbox contains for the program that is its agent. */
export class ProgramSetting implements Disposable {
  readonly mounts: readonly Mount[];
  readonly otherPythons: readonly PythonMount[];
  readonly #bundle: Bundle | null;
  /** The program's description of the task. */
  readonly prompt: string;
  /** Closed to other users. It contains the folder that the sandbox sees, with the gateway's socket and the brief. */
  readonly #outer: string;
  readonly #isConfined: boolean;

  /** @throws UserError `hidden_file` */
  static async create(parts: ProgramSettingParts): Promise<ProgramSetting> {
    const { program, spec, hidden } = parts;
    for (const source of Object.values(program.hostFiles?.(spec.agent_options) ?? {}))
      refuseHidden(source, hidden);
    const setting = new ProgramSetting(ownedSocketFolder('p'), parts);
    mkdirSync(setting.#shown);
    writeFileSync(join(setting.#shown, briefName), parts.brief);
    await openToReaders(setting.#shown);
    return setting;
  }

  private constructor(folder: string, { program, bundle, spec, brief }: ProgramSettingParts) {
    this.#outer = folder;
    this.#bundle = bundle;
    this.prompt = brief;
    this.#isConfined = spec.sandbox !== 'none';
    const files = Object.entries(program.hostFiles?.(spec.agent_options) ?? {});
    this.mounts = [
      readOnly(this.#shown, runInside),
      ...(bundle?.registry === 'npm'
        ? [readOnly(bundle.folder, bundleInside), readOnly(process.execPath, nodeInside)]
        : []),
      ...files.map(([name, source]) => readOnly(source, `${filesInside}/${name}`)),
    ];
    this.otherPythons =
      bundle?.registry === 'pypi'
        ? [{ environment: bundle.python.environment, basePrefix: bundle.python.basePrefix }]
        : [];
  }

  /** Where the gateway listens. Only the program can reach it. */
  get listenAt(): { socket: string } | { port: number } {
    return this.#isConfined ? { socket: join(this.#shown, socketName) } : { port: 0 };
  }

  /** The socket, on this machine, to which the starter sends the session. */
  get sessionSocket(): string {
    return join(this.#shown, sessionSocketName);
  }

  /**
   * What the starter needs to know about sessions.
   * @param saved the archive with which it continues
   */
  async session(sandbox: Sandbox, keep: readonly string[], saved: string | null) {
    const folder = sandbox.pathInside(runInside);
    if (saved !== null) {
      const shown = join(this.#shown, sessionName);
      await copyFile(saved, shown);
      await openToReaders(shown);
    }
    return {
      ...{ keep, socket: `${folder}/${sessionSocketName}` },
      saved: saved === null ? null : `${folder}/${sessionName}`,
    };
  }

  /** What forwards the program's connections to the gateway; null if the program reaches the gateway directly. */
  bridge(sandbox: Sandbox): { port: number; socket: string } | null {
    return this.#isConfined
      ? { port: portInside, socket: `${sandbox.pathInside(runInside)}/${socketName}` }
      : null;
  }

  /** @param port that the gateway listens on, if it listens on one */
  gateway(port: number | null): string {
    return `http://127.0.0.1:${port ?? portInside}`;
  }

  bundle(sandbox: Sandbox): { bundle: string; interpreter: string } {
    if (this.#bundle?.registry === 'pypi') {
      const { environment, executable } = this.#bundle.python;
      return { bundle: environment, interpreter: executable };
    }
    return { bundle: sandbox.pathInside(bundleInside), interpreter: sandbox.pathInside(nodeInside) };
  }

  hostFile(sandbox: Sandbox, name: string): string {
    return sandbox.pathInside(`${filesInside}/${name}`);
  }

  /** A folder that is created when the program starts, and removed when it ends. */
  get home(): string {
    return this.#isConfined ? '/tmp/home' : join(this.#outer, 'home');
  }

  /** The file that contains the prompt. */
  brief(sandbox: Sandbox): string {
    return `${sandbox.pathInside(runInside)}/${briefName}`;
  }

  get #shown(): string {
    return join(this.#outer, 's');
  }

  [Symbol.dispose](): void {
    rmSync(this.#outer, { recursive: true, force: true });
  }
}

function refuseHidden(source: string, hidden: readonly string[]): void {
  if (!existsSync(source)) return;
  const path = `${realpathSync(source)}/`;
  const folders = hidden.filter((folder) => existsSync(folder)).map((folder) => `${realpathSync(folder)}/`);
  if (!folders.some((folder) => path.startsWith(folder) || folder.startsWith(path))) return;
  throw new UserError(
    'hidden_file',
    `${source} belongs to the task of the run, or contains it. Agents must not see hidden files of their task.`,
    'Leave it out of the command and its files.',
  );
}

function readOnly(source: string, target: string): Mount {
  return { source, target, access: 'read' };
}
