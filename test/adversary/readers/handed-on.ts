import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attack, held, worked } from '../attack.ts';
import { type Json, layOut, recordedRun as run } from '../recorded-experiment.ts';
import type { Stage } from '../stage.ts';

/** Others hand on an experiment whose plan and record say something that would do them good. */
async function handOn(stage: Stage, changes: Json): Promise<string> {
  await layOut(stage, {}, (event) => event);
  const folder = join(stage.folder, 'experiments/first');
  for (const file of [
    join(folder, 'plan.json'),
    join(folder, `runs/${run.replace('first/', '')}/run.json`),
  ]) {
    const text = JSON.parse(readFileSync(file, 'utf8'), (_, value) =>
      isSpec(value) ? { ...value, ...changes } : value,
    );
    writeFileSync(file, JSON.stringify(text));
  }
  return folder;
}

function isSpec(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && 'sandbox' in value && 'seed' in value;
}

const unconfined = (...argv: string[]) =>
  attack({
    title: `says that its runs had no sandbox, so that ${argv[0]} has none`,
    scope: 'host',
    long: true,
    run: async (stage) => {
      await handOn(stage, { sandbox: 'none' });
      const { code, err } = await stage.mlab([...argv, run]);
      return code !== 0 && err.includes('had no sandbox')
        ? held(err.split('\n')[0] ?? '')
        : worked(`exit code ${code}: ${err.slice(0, 200)}`);
    },
  });

export default [
  unconfined('verify'),
  attack({
    title: 'names code that came along as the agent of its run',
    scope: 'host',
    long: true,
    run: async (stage) => {
      const path = join(stage.folder, 'experiments/first/evil.cjs');
      const source = { path, sha256: '0'.repeat(64) };
      await handOn(stage, { agent: 'evil', agent_source: source });
      stage.file(
        'experiments/first/evil.cjs',
        `require('node:fs').writeFileSync(${JSON.stringify(`${path}.ran`)}, '')`,
      );
      const { code, err } = await stage.mlab(['runs', 'replay', run]);
      if (existsSync(`${path}.ran`)) return worked('its code was run');
      if (!err.includes('is part of an experiment'))
        throw new Error(`exit code ${code}: ${err.slice(0, 300)}`);
      return held(err.split('\n')[0] ?? '');
    },
  }),
];
