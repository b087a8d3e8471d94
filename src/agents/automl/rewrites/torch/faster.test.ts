import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { torchInferenceScripts } from '../../../../../test/fixtures/torch-inference-scripts.ts';
import { torchScripts } from '../../../../../test/fixtures/torch-scripts.ts';
import { syntaxErrors } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { surroundingsOf } from '../test-support.ts';
import { rewriteTorch } from './torch.ts';

const seconds = surroundingsOf({ name: 'run time', unit: 'seconds', direction: 'minimize' });

function offers(source: string): Map<string, Rewrite> {
  return new Map(rewriteTorch(source, seconds).map((each) => [each.name.replace('torch: ', ''), each]));
}

/** The new lines of a rewrite. */
function changed(source: string, name: string): string[] {
  const before = new Set(source.split('\n'));
  const lines = offers(source).get(name)?.source.split('\n') ?? [];
  return lines.filter((line) => !before.has(line)).map((line) => line.trim());
}

const { decoder, writer } = torchInferenceScripts;

describe('rewrites of PyTorch scripts whose metric is a time', () => {
  it('change no results, and are not offered for other metrics', () => {
    for (const source of Object.values({ ...torchScripts, ...torchInferenceScripts })) {
      for (const name of offers(source).keys()) expect(name).toBe('last position only');
    }
    const metric = { name: 'accuracy', unit: 'share', direction: 'maximize' } as const;
    const others = rewriteTorch(decoder, surroundingsOf(metric)).map(({ name }) => name);
    expect(others.join()).not.toMatch(/last position/);
  });

  it('compute only the last position if it is read somewhere', () => {
    expect(changed(decoder, 'last position only')).toEqual(['return self.head((self.norm(x))[:, -1:])']);
    expect(changed(writer, 'last position only')).toEqual(['return self.lm_head((x)[:, -1:])']);
    const others = [
      decoder.replace('logits[:, -1]', 'logits[:, -2]'),
      decoder.replace('nn.Linear(32, words)', 'nn.Bilinear(32, 32, words)'),
      decoder.replace('MODELS: list[Decoder] = []', 'class Other(Decoder):\n    pass\n\n\nMODELS = []'),
    ];
    for (const source of others) expect(changed(source, 'last position only'), source).toEqual([]);
    const building = decoder.replace(
      '\n\ndef next_words',
      '\n\ndef build():\n    return Decoder()\n\n\ndef next_words',
    );
    expect(changed(building, 'last position only')).toHaveLength(1);
    for (const name of ['Decoder', 'build']) {
      const handedIn = structuredClone(seconds);
      handedIn.task.submission.files = [{ format: 'python', path: 'train.py', defines: [name] }];
      const names = rewriteTorch(building, handedIn).map((each) => each.name);
      expect(names).not.toContain('torch: last position only');
    }
  });

  it('are offered once, and say what is changed', () => {
    for (const source of [decoder, writer]) {
      const [first] = offers(source).values();
      expect([...offers(first?.source ?? '').keys()]).toEqual([]);
      expect(first?.change).toMatch(/\blines? \d+.*\.$/);
      expect(first?.reason).toMatch(/^[a-z].*\.$/s);
    }
  });

  it('never throw, whatever the text', () => {
    const whole = Object.values(torchInferenceScripts).join('\n');
    const lines = fc.constantFrom(...whole.split('\n').filter((line) => line.trim() !== ''));
    const torn = fc
      .tuple(fc.array(lines, { maxLength: 25 }), fc.nat(400))
      .map(([some, end]) => `import torch\n${some.join('\n').slice(0, 300 + end)}`);
    fc.assert(
      fc.property(torn, (source) => {
        for (const each of rewriteTorch(source, seconds))
          expect(syntaxErrors(each.source)).toBeLessThanOrEqual(syntaxErrors(source));
      }),
      { numRuns: 150 },
    );
  });
});
