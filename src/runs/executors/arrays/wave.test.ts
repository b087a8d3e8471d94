import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { WaveFolder } from './wave.ts';

test('arrays are found beside the other files of a scheduler', () => {
  const folder = temporaryFolder();
  const waves = new WaveFolder(folder, 'slurm');
  const wave = waves.create([]);
  writeFileSync(join(waves.folder, 'gateway.json'), '{}');
  mkdirSync(waves.lock);
  expect(waves.read()).toEqual([wave]);
});
