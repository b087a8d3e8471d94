/**
 * Writes schemas/, with which editors check and complete YAML files: `npm run node scripts/write-schemas.ts`. A test
 * fails while they are out of date.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ExperimentFile, SettingsFile, TaskFile } from '../src/schema/index.ts';

export const folder = join(import.meta.dirname, '../schemas');

const files = {
  'experiment.schema.json': ExperimentFile,
  'settings.schema.json': SettingsFile,
  'task.schema.json': TaskFile,
};

/** The content of each file, by its name. Draft 7 is best supported by editors. */
export function schemas(): Map<string, string> {
  return new Map(
    Object.entries(files).map(([name, schema]) => [
      name,
      `${JSON.stringify(z.toJSONSchema(schema, { io: 'input', target: 'draft-7' }), null, 2)}\n`,
    ]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of schemas()) writeFileSync(join(folder, name), text);
}
