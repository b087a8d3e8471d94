import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../src/lib/hash.ts';
import { ExperimentName, type Grade, Plan } from '../../src/schema/index.ts';
import { createExperiment } from '../../src/store/index.ts';
import { exampleSpec } from '../fixtures/store/examples.ts';
import { WrittenRun } from '../fixtures/store/recorded-run.ts';
import type { Stage } from './stage.ts';

const spec = exampleSpec();
/** The only run of the experiment. */
export const recordedRun = `first/${spec.id}`;
export type Json = Record<string, unknown>;

/** An experiment whose only run was recorded and graded, with an intact hash chain. */
export async function layOut(
  stage: Stage,
  grade: Partial<Grade>,
  change: (event: Json) => Json,
): Promise<void> {
  const folder = join(stage.folder, 'experiments/first');
  const facts = { v: 1, created: 0, mlab: '0', parallel: 1, grade: 'all' };
  const plan = Plan.parse({ ...facts, name: ExperimentName.parse('first'), runs: [spec] });
  const written = new WrittenRun(createExperiment(folder, plan).runFolder(spec.id), spec);
  await written.session(2, 'final_answer');
  written.grade(0, 0.8, { final: false });
  written.grade(1, 0.9, { final: false });
  written.grade(2, 0.95, grade);
  const path = written.folder.tracePath;
  let prev = '0'.repeat(64);
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const event = z.record(z.string(), z.unknown()).parse(JSON.parse(line));
      const changed = JSON.stringify({ ...change(withoutHash(event)), prev });
      prev = sha256(changed);
      return `${changed}\n`;
    });
  writeFileSync(path, lines.join(''));
}

const withoutHash = (event: Json): Json =>
  event.kind === 'session_started'
    ? { ...event, task: { problem: { text: '' }, entry: 'train.py', submission: ['submission.csv'] } }
    : event;

/** Changes the events of one kind. */
export const changing = (kind: string, changes: Json) => (event: Json) =>
  event.kind === kind ? { ...event, ...changes } : event;
