import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { syntaxErrors } from '../../python-source.ts';
import { allRewrites } from '../all.ts';
import { surroundingsOf } from '../made-up-surroundings.ts';
import { rewriteFlags } from './flags.ts';

const around = surroundingsOf({ name: 'accuracy', unit: 'share', direction: 'maximize' }, ['sklearn']);
const fast = surroundingsOf({ name: 'run time', unit: 'seconds', direction: 'minimize' }, ['sklearn']);

/** The lines that each flag changes. */
function turned(source: string): Record<string, string[]> {
  const before = new Set(source.split('\n'));
  return Object.fromEntries(
    rewriteFlags(source, around).map((each) => [
      each.name,
      each.source.split('\n').flatMap((line) => (before.has(line) ? [] : [line.trim()])),
    ]),
  );
}

const own = `from dataclasses import dataclass

USE_DROPOUT = False
VERBOSE = True
SHUFFLE_SPLIT = True


@dataclass
class Config:
    width: int = 8
    gated: bool = True
    layer_norm: bool = False
    save_model: bool = False


class Model:
    bias = True


config = Config(gated=True, use_cuda=False)
model = Model(bias=True)
`;

const library = `import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from torch import nn

words = TfidfVectorizer(sublinear_tf=True)
forest = RandomForestClassifier(bootstrap=True, oob_score=True)
layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)
plain = torch.optim.SGD(layer.parameters(), lr=0.1)
`;

describe('flags', () => {
  it('turn over booleans of constants and configurations of the script, one at a time', () => {
    expect(turned(own)).toEqual({
      'flags: use_dropout': ['USE_DROPOUT = True'],
      'flags: gated': ['config = Config(gated=False, use_cuda=False)'],
      'flags: layer_norm': ['layer_norm: bool = True'],
    });
  });

  it('turn over what is known of libraries, unless the call says that it would fail', () => {
    expect(turned(library)).toEqual({
      'torch: other norm_first': [
        'layer = nn.TransformerEncoderLayer(8, 2, batch_first=True, norm_first=True)',
      ],
      'scikit-learn: other sublinear_tf': ['words = TfidfVectorizer(sublinear_tf=False)'],
      'scikit-learn: other binary': ['words = TfidfVectorizer(sublinear_tf=True, binary=True)'],
      'scikit-learn: other lowercase': ['words = TfidfVectorizer(sublinear_tf=True, lowercase=False)'],
    });
    const momentum = library.replace('lr=0.1', 'lr=0.1, momentum=0.9');
    expect(turned(momentum)).toHaveProperty(['torch: other nesterov']);
    const unknown = library.replace('sublinear_tf=True', 'sublinear_tf=logarithmic');
    expect(turned(unknown)).not.toHaveProperty(['scikit-learn: other sublinear_tf']);
  });

  it('are a handful at most, late in the order, and none where speed is what counts', () => {
    const many = `${Array.from({ length: 9 }, (_, place) => `USE_PART_${place} = True`).join('\n')}\n`;
    const offers = rewriteFlags(many, around);
    expect(offers).toHaveLength(5);
    for (const { weight } of offers) expect(weight).toBeLessThanOrEqual(0.35);
    expect(allRewrites(many, fast, []).filter(({ name }) => name.startsWith('flag'))).toEqual([]);
  });

  it('leave alone what is given two values, and never throw, whatever the text', () => {
    expect(turned('USE_GATES = True\nUSE_GATES = False\n')).toEqual({});
    expect(
      turned(own.replace('model = Model', 'other = Config(gated=False)\nmodel = Model')),
    ).not.toHaveProperty(['flags: gated']);
    const lines = fc.constantFrom(...`${own}${library}`.split('\n'));
    const torn = fc.array(lines, { maxLength: 20 }).map((some) => some.join('\n'));
    fc.assert(
      fc.property(torn, (source) => {
        for (const each of rewriteFlags(source, around))
          expect(syntaxErrors(each.source)).toBeLessThanOrEqual(syntaxErrors(source));
      }),
      { numRuns: 100 },
    );
  });
});
