/**
 * Writes schemas/: those with which editors check and complete YAML files, and that of what agents are told: `npm run node scripts/write-schemas.ts`. A test
 * fails while they are out of date.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { AgentRunParams, ExperimentFile, SettingsFile, TaskFile } from '../src/schema/index.ts';

export const folder = join(import.meta.dirname, '../schemas');

const files = {
  'agent-run.schema.json': AgentRunParams,
  'experiment.schema.json': ExperimentFile,
  'settings.schema.json': SettingsFile,
  'task.schema.json': TaskFile,
};

/** The content of each file, by its name. Draft 7 is best supported by editors. */
export function schemas(): Map<string, string> {
  return new Map(
    Object.entries(files).map(([name, schema]) => [
      name,
      `${JSON.stringify(z.toJSONSchema(schema, { io: ioOf(schema), target: 'draft-7', override: withoutFigures }), null, 2)}\n`,
    ]),
  );
}

const figures = ['mean', 'spread', 'seeds', 'seconds', 'machine'];

/** Figures of a task may be missing until `mlab tasks baseline --write` adds them. */
function withoutFigures({ jsonSchema }: { jsonSchema: { required?: string[] } }): void {
  const { required = [] } = jsonSchema;
  if (!required.includes('mean')) return;
  jsonSchema.required = required.filter((name) => !figures.includes(name));
}

/** People write the others, in which keys with a default may be missing. */
function ioOf(schema: z.ZodType): 'input' | 'output' {
  return schema === AgentRunParams ? 'output' : 'input';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of schemas()) writeFileSync(join(folder, name), text);
}
