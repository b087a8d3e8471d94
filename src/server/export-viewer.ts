import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../lib/errors.ts';
import { makeWholeFolder, wholeNamesIn } from '../lib/whole-folder.ts';
import type { FileList } from '../schema/index.ts';
import { noPages } from './report-file.ts';
import { Viewer, type ViewerOptions } from './viewer.ts';

export interface ViewerExportOptions extends ViewerOptions {
  /** The built pages. */
  pages: string;
  /** The target folder; it is created, or must be empty or contain an earlier export. */
  folder: string;
  /** Called for each run that is written. */
  onRun: (experiment: string, run: string) => void;
  signal: AbortSignal;
}

export interface Exported {
  experiments: number;
  runs: number;
  steps: number;
  /** Ids of experiments and runs that could not be written, and why. */
  left: { what: string; why: string }[];
}

/** Larger files of workspaces are listed, but their content is left out. */
const maxFileBytes = 2 ** 20;
/** A server sends this policy as a header; frames can't be forbidden from within a page. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/**
 * Shown until the pages' style sheet hides it. Browsers load neither that nor a script into a page opened from disk.
 */
const fromDisk =
  '<p class="from-disk">This export needs a web server: browsers load no data into pages that are opened from disk. Run <code>python3 -m http.server</code> in this folder, then open http://localhost:8000.</p>';

/**
 * Writes the pages and all their data as files, for any web server: the response at an address is in the file of that
 * address.
 * @throws UserError `no_pages`, `folder_not_empty`, `part_left`
 */
export async function exportViewer(options: ViewerExportOptions): Promise<Exported> {
  if (!existsSync(join(options.pages, 'index.html'))) throw noPages();
  refuseForeignFolder(options.folder);
  using viewer = new Viewer({ ...options, restFrom: 'nowhere' });
  return await makeWholeFolder(options.folder, options.signal, async (folder) => {
    const exporter = new Exporter(viewer, { ...options, folder });
    await viewer.catalogue.look();
    copyPages({ ...options, folder });
    await exporter.everything();
    return exporter.exported;
  });
}

function refuseForeignFolder(folder: string): void {
  if (wholeNamesIn(folder).length === 0 || existsSync(join(folder, 'api/info.json'))) return;
  throw new UserError('folder_not_empty', `${folder} is not empty.`, 'Choose a new folder.');
}

function copyPages({ pages, folder }: ViewerExportOptions): void {
  mkdirSync(folder, { recursive: true });
  cpSync(pages, folder, { recursive: true, filter: (path) => !path.endsWith('report.html') });
  const marks = `<meta name="mlab-source" content="export"><meta http-equiv="Content-Security-Policy" content="${policy}">`;
  const page = readFileSync(join(pages, 'index.html'), 'utf8')
    .replace('<head>', () => `<head>${marks}`)
    .replace('<body>', () => `<body>${fromDisk}`);
  writeFileSync(join(folder, 'index.html'), page);
}

class Exporter {
  readonly exported: Exported = { experiments: 0, runs: 0, steps: 0, left: [] };
  readonly #viewer: Viewer;
  readonly #options: ViewerExportOptions;
  readonly #written = new Set<string>();

  constructor(viewer: Viewer, options: ViewerExportOptions) {
    this.#viewer = viewer;
    this.#options = options;
  }

  async everything(): Promise<void> {
    const tasks = new Set<string>();
    for (const { place, line } of this.#viewer.catalogue.experiments) {
      await this.#orLeave(place.id, () => this.#experiment(place.id));
      for (const task of line.tasks) tasks.add(task);
    }
    for (const task of tasks) {
      await this.#orLeave(task, async () => this.#write(`tasks/${task}`, await this.#viewer.task(task)));
    }
    this.#write('experiments', this.#viewer.experiments());
    this.#write('info', this.#viewer.info(Date.now()));
  }

  async #experiment(id: string): Promise<void> {
    const page = await this.#viewer.experiment(id);
    this.#write(`experiments/${id}`, page);
    if (page.line.message !== null) throw new UserError('broken_experiment', page.line.message, '');
    const report = await this.#made(
      () => this.#viewer.report(id, 'every_run'),
      ({ pending }) => pending === null,
    );
    this.#write(`experiments/${id}/report`, report);
    for (const { run } of [...page.runs, ...this.#viewer.catalogue.experiment(id).branches])
      await this.#orLeave(`${id}/${run}`, () => this.#run(id, run));
    this.exported.experiments += 1;
  }

  async #run(id: string, run: string): Promise<void> {
    const { signal } = this.#options;
    this.#options.onRun(id, run);
    const base = `experiments/${id}/runs/${run}`;
    const page = await this.#made(
      () => this.#viewer.run(id, run, signal),
      ({ pending }) => !pending,
    );
    this.#write(base, page);
    this.#write(`${base}/timeline`, await this.#viewer.timeline(id, run));
    const last = page.steps + (page.has_tail ? 1 : 0);
    for (let step = 0; step <= last; step++) await this.#step(id, run, step);
    this.exported.runs += 1;
    this.exported.steps += page.steps;
  }

  async #step(id: string, run: string, step: number): Promise<void> {
    const { signal } = this.#options;
    signal.throwIfAborted();
    const base = `experiments/${id}/runs/${run}/steps/${step}`;
    const page = await this.#viewer.step(id, run, step, signal);
    this.#write(base, page);
    if (page.snapshot === null) return;
    await this.#orLeave(`${id}/${run}, files of step ${step}`, async () => {
      const files = await this.#viewer.files(id, run, step, signal);
      this.#write(`${base}/files`, files);
      this.#write(`${base}/diff`, await this.#viewer.diff(id, run, step, Math.max(0, step - 1), signal));
      this.#contents(id, files);
    });
  }

  /** The contents of a workspace's files, each once. */
  #contents(id: string, { files }: FileList): void {
    for (const { object, size } of files) {
      if (object === null || (size ?? 0) > maxFileBytes) continue;
      const address = `experiments/${id}/objects/${object}`;
      if (!this.#written.has(address)) this.#write(address, this.#viewer.object(id, object));
      this.#written.add(address);
    }
  }

  /** Asks until the background has made it. */
  async #made<Page>(ask: () => Promise<Page>, isMade: (page: Page) => boolean): Promise<Page> {
    for (;;) {
      this.#options.signal.throwIfAborted();
      const page = await ask();
      if (isMade(page)) return page;
      await sleep(50);
    }
  }

  /** An error in one part does not keep others from being written. */
  async #orLeave(what: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!UserError.isInstance(error)) throw error;
      this.exported.left.push({ what, why: error.message });
    }
  }

  /** Ids consist of letters, digits, `-`, `_`, `.` and `~`: they are valid file names. */
  #write(address: string, page: unknown): void {
    const path = join(this.#options.folder, 'api', `${address}.json`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(page));
  }
}
