import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { EventPayload, ObjectId } from '../../src/schema/index.ts';
import {
  openExperiment,
  readSnapshot,
  readTraceSync,
  storeSnapshot,
  TraceWriter,
} from '../../src/store/index.ts';
import { exampleEntry } from '../fixtures/experience.ts';
import { fixtureTasks, TaskBench } from '../fixtures/fixture-task.ts';
import { mlab, type StartedMlab, startMlab } from '../fixtures/mlab-process.ts';
import { madeUpRun, packedFiles, writeFiles } from '../fixtures/original-run.ts';

const outputEvents = 130_000;
const outputText = `${'epoch 17: accuracy 0.93 '.repeat(4)}\n`;
const filesOfSnapshot = 200_000;
const tasksBesides = 1500;
const runsToImport = 60;
const entriesOfExperience = 100_000;

/** Variants of the task sums that keep the harness busy for seconds: each a task folder for --task-dir. */
const slowTasks = {
  'many-data-files': {
    'hidden/prepare.py': (source: string) =>
      source.replace(
        'folders = read_folders()\n',
        'folders = read_folders()\n    for number in range(250_000):\n        open(folders.public / f"{number}.txt", "w").close()\n',
      ),
  },
  'many-files': {
    'task.yaml': (text: string) => text.replace('workspace_mb: 16', 'workspace_mb: 3000'),
    'env/train.py': () =>
      'import time\nfor number in range(200_000):\n    open(f"{number}.txt", "w").close()\nprint("written")\n',
  },
  'sparse-file': {
    'env/train.py': () => 'with open("sparse", "wb") as file:\n    file.truncate(2**40)\nprint("written")\n',
  },
  sleeping: { 'env/train.py': () => 'import time\nprint("begun")\ntime.sleep(300)\n' },
  'sleeping-grader': { 'hidden/grade.py': (source: string) => `import time\ntime.sleep(300)\n${source}` },
};
export type SlowTask = keyof typeof slowTasks;

/** Stores, tasks and servers that make every command slow. */
export class SlowPlace extends TaskBench {
  readonly temporary = join(this.folder, 'tmp');
  readonly #silent = createServer(() => {});

  /** @param part leaves out what is needed only by commands that list tasks, import runs or read experience */
  async make(part: 'all' | 'runs' = 'all'): Promise<void> {
    mkdirSync(this.temporary);
    await new Promise<void>((resolve) => this.#silent.listen(0, '127.0.0.1', resolve));
    const made = await mlab(
      ['--task-dir', fixtureTasks, 'run', '--task', 'sums', '--agent', 'oracle', '--name', 'long'],
      this.place,
    );
    if (made.code !== 0) throw new Error(made.err);
    await this.#lengthen();
    for (const [name, changes] of Object.entries(slowTasks)) {
      const contents = Object.entries(changes).map(([path, change]) => {
        const source = readFileSync(join(fixtureTasks, 'sums', path), 'utf8');
        return [path, change(source)] as const;
      });
      this.copyTask(name, Object.fromEntries(contents));
    }
    if (part === 'runs') return;
    for (let number = 0; number < tasksBesides; number += 1) this.#copyTask(number);
    this.#writeHostileLogs();
    this.#writeExperience();
  }

  tasks(name: SlowTask | 'many'): string {
    return join(this.folder, name);
  }

  /** Accepts requests and answers none. */
  get silentUrl(): string {
    return `http://127.0.0.1:${(this.#silent.address() as AddressInfo).port}/v1`;
  }

  get place(): { folder: string; variables: Record<string, string> } {
    return {
      folder: this.folder,
      variables: {
        MLAB_CACHE: this.cache,
        TMPDIR: this.temporary,
        OPENAI_API_KEY: 'none',
        OPENAI_BASE_URL: this.silentUrl,
      },
    };
  }

  start(argv: readonly string[]): StartedMlab {
    return startMlab(argv, this.place);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#silent.closeAllConnections();
    await new Promise((resolve) => this.#silent.close(resolve));
    this[Symbol.dispose]();
  }

  /** The run printed 16 MB in small pieces, and left many files. */
  async #lengthen(): Promise<void> {
    const run = openExperiment(join(this.experiments, 'long')).runFolder('sums-oracle-0');
    const record = run.readRecord();
    if (record === null) throw new Error('the run has no record');
    const { events } = readTraceSync(run.tracePath);
    const last = events.at(-1);
    if (last?.kind !== 'run_ended') throw new Error('the run has not ended');
    const snapshot = this.#manyFiles(run.objects, ObjectId.parse(last.snapshot));
    const path = `${run.tracePath}.longer`;
    let time = 0;
    await using trace = TraceWriter.open(path, run.objects, { now: () => time });
    for (const event of events) {
      time = event.time;
      const payload = EventPayload.parse(event);
      trace.append(
        'snapshot' in payload && payload.snapshot === last.snapshot ? { ...payload, snapshot } : payload,
      );
      if (event.kind !== 'output') continue;
      for (let number = 0; number < outputEvents; number += 1)
        trace.append({ ...EventPayload.parse(event), text: outputText } as EventPayload);
    }
    rmSync(`${run.tracePath}.zst`, { force: true });
    renameSync(path, run.tracePath);
    run.writeRecordSync({ ...record, trace: trace.head });
  }

  #manyFiles(objects: Parameters<typeof storeSnapshot>[0], id: ObjectId): ObjectId {
    const { entries } = readSnapshot(objects, id);
    const file = entries.find((entry) => 'object' in entry);
    if (file === undefined) throw new Error('the snapshot has no file');
    const more = Array.from({ length: filesOfSnapshot }, (_, number) => ({
      ...file,
      path: `file-${number}.txt`,
    }));
    return storeSnapshot(objects, [...entries, ...more]);
  }

  #copyTask(number: number): void {
    const folder = join(this.folder, 'many', `sums-${number}`);
    cpSync(join(fixtureTasks, 'sums'), folder, { recursive: true });
    const text = readFileSync(join(folder, 'task.yaml'), 'utf8');
    writeFileSync(join(folder, 'task.yaml'), text.replace('id: sums', `id: sums-${number}`));
  }

  #writeHostileLogs(): void {
    const run = madeUpRun();
    const [first, ...others] = run.steps;
    if (first === undefined) throw new Error('the run has no step');
    const long = { ...first, observation: 'a line of what a script printed\n'.repeat(60_000) };
    const files = packedFiles({ ...run, steps: [long, ...others] });
    for (let number = 0; number < runsToImport; number += 1)
      writeFiles(join(this.folder, 'logs', String(number)), files);
  }

  #writeExperience(): void {
    const lines = Array.from({ length: entriesOfExperience }, (_, number) =>
      JSON.stringify(exampleEntry({ id: number.toString(16).padStart(12, '0') })),
    );
    writeFileSync(join(this.folder, 'experience.jsonl'), `${lines.join('\n')}\n`);
  }
}
