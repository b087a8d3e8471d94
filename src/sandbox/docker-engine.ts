import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { messageOf } from '../lib/errors.ts';
import { findProgram } from './find-program.ts';
import { isOrphaned } from './owner.ts';
import { SandboxError } from './sandbox.ts';

const runFile = promisify(execFile);

/** Podman, if it alone is installed. */
export function usualEngine(): string {
  return findProgram('docker') === null && findProgram('podman') !== null ? 'podman' : 'docker';
}

/** Variables that the command line itself may need to find its engine; none of them reaches a container. */
const passedOn =
  /^(PATH|HOME|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS|(DOCKER|CONTAINER|CONTAINERS)_[A-Z_]+)$/;

/** Long enough for a busy engine. */
const answerMs = 60_000;
const ownerLabel = 'mlab.owner';

const ContainerState = z.object({ Running: z.boolean(), ExitCode: z.int(), OOMKilled: z.boolean() });
export type ContainerState = z.infer<typeof ContainerState>;

const temporaryMode = 0o1777;

/** A container engine, controlled through its command line. */
export class DockerEngine {
  readonly command: string;
  readonly environment: Record<string, string>;
  /** Podman takes the same arguments, with some other defaults. */
  readonly isPodman: boolean;

  private constructor(command: string, environment: Record<string, string>, isPodman: boolean) {
    this.command = command;
    this.environment = environment;
    this.isPodman = isPodman;
  }

  /** @throws SandboxError if the command is missing or no engine answers it. */
  static async connect(command: string): Promise<DockerEngine> {
    const environment = engineEnvironment();
    try {
      const { stdout } = await runFile(command, ['--version'], { env: environment });
      const engine = new DockerEngine(command, environment, /podman/i.test(stdout));
      await engine.ask(['info', '--format', '{{json .}}']);
      return engine;
    } catch (error) {
      throw engineError(command, error);
    }
  }

  /**
   * Standard output of one call.
   * @throws Error, also if the engine does not answer within a minute
   */
  async ask(parameters: readonly string[]): Promise<string> {
    const { stdout } = await runFile(this.command, parameters, {
      env: this.environment,
      maxBuffer: 16 * 2 ** 20,
      timeout: answerMs,
      killSignal: 'SIGKILL',
    });
    return stdout.trim();
  }

  /** Null: there is no such container. `unknown`: the engine does not say. */
  async stateOf(name: string): Promise<ContainerState | null | 'unknown'> {
    try {
      const text = await this.ask(['container', 'inspect', '--format', '{{json .State}}', name]);
      return ContainerState.parse(JSON.parse(text));
    } catch (error) {
      return /no such container/i.test(messageOf(error)) ? null : 'unknown';
    }
  }

  /** The label by which containers of a killed harness are found. */
  label(owner: string): string {
    return `${ownerLabel}=${owner}`;
  }

  /** Removes the containers of processes that were killed before they could do so. */
  async removeOrphans(): Promise<void> {
    const format = `{{.ID}} {{.Label "${ownerLabel}"}}`;
    const lines = await this.ask(['ps', '--all', '--filter', `label=${ownerLabel}`, '--format', format]);
    for (const line of lines.split('\n').filter(Boolean)) {
      const [id = '', owner = ''] = line.split(' ');
      if (isOrphaned(owner)) await this.ask(['rm', '--force', id]).catch(() => {});
    }
  }

  /** An image with only the top-level links and mount points, made here: nothing is pulled. */
  async emptyImage(links: ReadonlyMap<string, string>, scratch: string): Promise<string> {
    const layout = JSON.stringify([...links, temporaryMode]);
    const image = `mlab-empty:${createHash('sha256').update(layout).digest('hex').slice(0, 16)}`;
    const known = await this.ask(['image', 'inspect', '--format', 'known', image]).catch(() => '');
    if (known === 'known') return image;
    const root = join(scratch, 'image');
    for (const folder of ['usr', 'etc', 'dev', 'proc', 'sys', 'tmp']) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const [path, target] of links) symlinkSync(target, join(root, path));
    // Runtimes take the mode from here, whatever was requested.
    chmodSync(join(root, 'tmp'), temporaryMode);
    const archive = join(scratch, 'image.tar');
    await runFile('tar', ['--create', '--owner=0', '--group=0', '--file', archive, '--directory', root, '.']);
    await this.ask(['import', archive, image]);
    return image;
  }
}

/** An error for a problem with an engine, with what to do about it. */
export function engineError(command: string, error: unknown): SandboxError {
  const message = messageOf(error);
  const reason = `the container engine behind \`${command}\` does not serve: ${message.trim()}`;
  return new SandboxError(reason, engineHint(message), { cause: error });
}

function engineHint(message: string): string {
  if (/ENOENT/.test(message)) return 'sudo apt-get install docker.io';
  if (/permission denied/i.test(message)) return 'sudo usermod -aG docker "$USER" (then log in again)';
  if (/connect|daemon/i.test(message)) return 'sudo systemctl start docker';
  if (/no such image|not known|unable to find image/i.test(message)) return 'pull or build the image first';
  return 'run `mlab doctor` to see what the sandbox needs';
}

function engineEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && passedOn.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}
