import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../../test/fixtures/temporary-folder.ts';
import { torchInferenceScripts } from '../../../../../test/fixtures/torch-inference-scripts.ts';
import { runScripts, torchPython } from '../../../../../test/fixtures/torch-python.ts';
import { surroundingsOf } from '../test-support.ts';
import { rewriteTorch } from './torch.ts';

const python = await torchPython();
const seconds = surroundingsOf({ name: 'run time', unit: 'seconds', direction: 'minimize' });

/** Every number in a script's output, except for its time. */
function numbersIn(printed: string): number[] {
  const lines = printed.split('\n').filter((line) => !line.startsWith('seconds'));
  return (lines.join('\n').match(/-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/g) ?? []).map(Number);
}

describe('faster scripts of PyTorch', () => {
  test.each(Object.entries(torchInferenceScripts))(
    '%s computes the same after each rewrite, and after all',
    (_, source) => {
      const rewrites = rewriteTorch(source, seconds);
      const scripts = new Map([
        ['starter', source],
        ...rewrites.map((each) => [each.name, each.source] as const),
      ]);
      expect(scripts.size).toBeGreaterThan(1);
      const results = runScripts(python, temporaryFolder(), scripts);
      const wanted = numbersIn(results.starter?.printed ?? '');
      expect(wanted.length).toBeGreaterThan(80);
      for (const [name, { printed, error }] of Object.entries(results)) {
        expect(error, name).toBeNull();
        const found = numbersIn(printed);
        expect(found.length, name).toBe(wanted.length);
        for (const [place, value] of found.entries())
          expect(Math.abs(value - (wanted[place] ?? Number.NaN)), `${name}, ${place}`).toBeLessThan(1e-5);
      }
    },
  );
});
