import { expect, it } from 'vitest';
import { torchScripts } from '../../../test/fixtures/torch-scripts.ts';
import { findKnobs } from './knobs.ts';
import { ScriptVersions } from './versions.ts';

function widths(layers: string): string[] {
  const source = `import torch\nfrom torch import nn\n${layers}`;
  return findKnobs(source).flatMap(({ name, literal, also }) =>
    name === 'width' && also.length > 0 ? [`${literal} in ${also.length + 1} places`] : [],
  );
}

it('a width between two layers is one number, across attributes and products', () => {
  const versions = new ScriptVersions(torchScripts.flat, ({ also }) => also.length > 0);
  expect(versions.knobs.map(({ literal }) => literal)).toEqual(['6', '16', '24']);
  const wider = versions.render([12, 32, 48]) ?? '';
  expect(wider).toContain('nn.Conv2d(1, 12, 3)');
  expect(wider).toContain('nn.Conv2d(12, 32, 3)');
  expect(wider).toContain('nn.Linear(32 * 2 * 2, 48)');
  expect(wider).toContain('nn.Linear(48, 2)');
});

it('widths that may be added stay equal, with norms and blocks between them', () => {
  expect(
    widths('m = nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 1))'),
  ).toEqual(['8 in 5 places']);
  expect(
    widths('m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 1, 1))'),
  ).toEqual(['8 in 5 places']);
  expect(findKnobs(torchScripts.language).find(({ name }) => name === 'width')?.also).toHaveLength(3);
});

it.each([
  'm = nn.Linear(400, 120)',
  'm = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1))',
  'm = nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 8))',
  'a = nn.Sequential(nn.Linear(3, 8), nn.ReLU())\nb = nn.Sequential(nn.Linear(8, 2))',
  'm = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(1152, 10))',
  'class N(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(4, 8)\n        self.b = nn.Linear(5, 8)\n        self.c = nn.Linear(16, 1)\n',
])('no width is found where sizes of inputs or outputs, or two branches, depend on it: %j', (layers) => {
  expect(widths(layers)).toEqual([]);
});

it('constants of nature, and constants used only in formulas, are no numbers to tune', () => {
  const found = (source: string) => findKnobs(source).map(({ name }) => name);
  expect(found('PI = 3.14159\nRADIUS = 6.02214e23\nheat = 8.314\n')).toEqual([]);
  expect(found('DRAG = 0.47\ndef force(v):\n    return DRAG * v ** 2\n')).toEqual([]);
  expect(found('SHARE = 0.47\nmodel = Model(SHARE)\n')).toEqual(['SHARE']);
  expect(found('MIX = 0.47\nfor b in d:\n    loss = a + MIX * b\n    loss.backward()\n')).toEqual(['MIX']);
  expect(found('alpha = 3.14\n')).toEqual(['alpha']);
});
