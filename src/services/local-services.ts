import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openToReaders } from '../lib/open-to-readers.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import { GatewayServer } from '../models/index.ts';
import { type Mount, ownedSocketFolder } from '../sandbox/index.ts';
import type { SandboxDriver } from '../schema/index.ts';
import type { LocalServicesOptions } from './options.ts';
import { ScriptService } from './script-service.ts';
import { servicesInside } from './service-sandbox.ts';

/** Why services failed. */
export interface ServicesEnd {
  /** Why the model gateway could not answer, if the calling code did not cause it. */
  modelFailure: string | null;
  /** How a script ended before it was stopped: code that used it may have caused that. */
  scriptFailure: string | null;
}

/**
 * The local services of a task: scripts of the task, each in its own sandbox with the hidden data, and the model
 * gateway on a socket. The sandbox of an agent or a submission gets only a folder with a socket for each.
 */
export class LocalServices implements AsyncDisposable {
  /** Host folder with the sockets; in the system's folder for temporary files, because socket paths must be short. */
  readonly folder: string;
  /** Closed to other users; contains the folder. */
  readonly #outer: string;
  readonly #driver: SandboxDriver;
  readonly #scripts: ScriptService[] = [];
  readonly #gateways: GatewayServer[] = [];

  private constructor(outer: string, driver: SandboxDriver) {
    this.#outer = outer;
    this.folder = join(outer, 's');
    this.#driver = driver;
  }

  /**
   * Starts them and waits until each listens; null for a task without services.
   * @throws SandboxError, or an Error with the output of a service that did not start
   */
  static async start(options: LocalServicesOptions): Promise<LocalServices | null> {
    const { task, driver, askForTool } = options;
    const { services } = task.file;
    if (services.length === 0) return null;
    const all = new LocalServices(ownedSocketFolder('s'), driver);
    try {
      mkdirSync(all.folder);
      await openToReaders(all.folder);
      for (const service of services) {
        const socket = join(all.folder, `${service.name}.sock`);
        if (service.kind === 'model') all.#gateways.push(await GatewayServer.listen(socket, askForTool));
        else all.#scripts.push(await ScriptService.start(service.name, service.script, all.folder, options));
      }
      return all;
    } catch (error) {
      await all[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What a sandbox needs to use the services. */
  get access(): { mounts: Mount[]; variables: Record<string, string> } {
    return {
      mounts: [{ source: this.folder, target: servicesInside, access: 'read' }],
      variables: { MLAB_SERVICES: this.#driver === 'none' ? this.folder : servicesInside },
    };
  }

  /** Ends them all. May be called again. */
  async stop(): Promise<ServicesEnd> {
    let modelFailure: string | null = null;
    for (const gateway of this.#gateways) {
      await gateway[Symbol.asyncDispose]();
      modelFailure ??= gateway.failure;
    }
    const ends: (string | null)[] = [];
    for (const script of this.#scripts.splice(0)) ends.push(await script.stop());
    removeTree(this.#outer);
    return { modelFailure, scriptFailure: ends.find((end) => end !== null) ?? null };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
