import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { briefOf } from '../../../../../test/fakes/fake-environment.ts';
import { torchScripts } from '../../../../../test/fixtures/torch-scripts.ts';
import { syntaxErrors } from '../../python-source.ts';
import type { Rewrite, Surroundings } from '../rewrite.ts';
import { rewriteTorch } from './torch.ts';

function around(metric: string): Surroundings {
  const direction = metric === 'accuracy' ? 'maximize' : 'minimize';
  const task = briefOf({ metric: { name: metric, unit: 'units', direction } });
  return { task, arrays: [], packages: [] };
}

/** Caches the offers: several tests look at the same script, and parsing is slow. */
const known = new Map<string, readonly Rewrite[]>();

function allOffers(source: string, metric: string): readonly Rewrite[] {
  const key = `${metric}\n${source}`;
  const found = known.get(key) ?? rewriteTorch(source, around(metric));
  known.set(key, found);
  return found;
}

function offers(source: string, metric = 'accuracy'): Map<string, Rewrite> {
  return new Map(allOffers(source, metric).map((each) => [each.name.replace('torch: ', ''), each]));
}

const parts = join(import.meta.dirname, '../../../../../python/automl/parts');
const partTexts = readdirSync(parts)
  .filter((name) => name.endsWith('.py'))
  .map((name) => readFileSync(join(parts, name), 'utf8').trim());

/** The new lines of a rewrite, without the inserted parts at the top. */
function changed(source: string, name: string, metric?: string): string[] {
  const before = new Set(source.split('\n'));
  const rewritten = offers(source, metric).get(name)?.source ?? '';
  const body = partTexts.reduce((text, part) => text.replace(part, ''), rewritten).split('\n');
  return body.filter((line) => !before.has(line)).map((line) => line.trim());
}

const { flat, names, language, trainer } = torchScripts;

describe('rewrites of scripts that use PyTorch', () => {
  it('replace the optimizer and keep its parameters, and schedule its rate through loops', () => {
    expect(changed(flat, 'usual recipe')).toEqual([
      'optimizer = scheduled(optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2), warm_up=0.1)',
      'for epoch in planned(range(3), "epochs"):',
      'for i, (inputs, targets) in enumerate(planned(train_loader, "batches")):',
    ]);
    expect(changed(names, 'usual recipe').slice(0, 2)).toEqual([
      'import torch',
      'opt = scheduled(torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2), warm_up=0.1)',
    ]);
    expect(changed(language, 'usual recipe')).toContain('for step in planned(range(MAX_STEPS), "epochs"):');
    expect(offers(language).get('usual recipe')?.change).not.toContain('AdamW(');
    const grouped = 'import torch\no = torch.optim.SGD([{"params": p, "lr": 0.1}], lr=1.0)\n';
    expect(offers(grouped).size).toBe(0);
  });

  it('follow the steps through functions and methods', () => {
    expect(changed(trainer, 'usual recipe').slice(1)).toEqual([
      'for epoch in planned(range(self.epochs), "epochs"):',
      'for part in planned(torch.randperm(len(x)).split(16), "batches"):',
    ]);
  });

  it('train longer where no number says how long, through functions too', () => {
    const source = `import torch
from torch import nn

settings = torch.load("settings.pt")
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def update(x):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()

for number in range(settings["rounds"]):
    update(torch.ones(2, 3))
`;
    expect(changed(source, 'train longer')).toEqual([
      'TIMES_LONGER = 2',
      'for number in range(TIMES_LONGER * (settings["rounds"])):',
    ]);
    const named = source.replace(/^settings = .*/m, 'ROUNDS = 20').replace('settings["rounds"]', 'ROUNDS');
    for (const known of [named, flat, trainer]) expect(offers(known).has('train longer')).toBe(false);
  });

  it('normalise inner convolutions, and never those that give the output', () => {
    expect(changed(flat, 'usual recipe for pictures').slice(0, 2)).toEqual([
      'self.conv1 = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6))',
      'self.conv2 = nn.Sequential(nn.Conv2d(6, 16, 3), nn.BatchNorm2d(16))',
    ]);
    const whole =
      'import torch\nfrom torch import nn\nm = nn.Sequential(nn.Conv1d(1, 4, 3), nn.Conv1d(4, 1, 3))\n';
    expect(changed(whole, 'usual recipe for pictures')).toEqual([
      'm = nn.Sequential(nn.Sequential(nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4)), nn.Conv1d(4, 1, 3))',
    ]);
  });

  it('are offered only once', () => {
    for (const source of [flat, trainer]) {
      for (const { name, source: rewritten } of allOffers(source, 'MAE')) {
        expect(rewriteTorch(rewritten, around('MAE')).map((each) => each.name)).not.toContain(name);
      }
    }
  });

  it('say what is changed in which line', () => {
    for (const each of Object.values(torchScripts).flatMap((source) => allOffers(source, 'MAE'))) {
      expect(each.change).toMatch(/\blines? \d+.*\.$/);
      expect(each.reason).toMatch(/^[a-z].*\.$/s);
      expect(each.weight).toBeGreaterThan(0);
      expect(each.effort).toBeGreaterThanOrEqual(1);
    }
  });

  it('leave scripts without PyTorch unchanged, and never throw, whatever the text', () => {
    expect(rewriteTorch('import optim\noptimizer = optim.SGD(x, lr=1)\n', around('MAE'))).toEqual([]);
    const whole = Object.values(torchScripts).join('\n');
    const lines = fc.constantFrom(...whole.split('\n').filter((line) => line.trim() !== ''));
    const torn = fc
      .tuple(fc.array(lines, { maxLength: 25 }), fc.nat(400))
      .map(([some, end]) => `import torch\nfrom torch import nn\n${some.join('\n').slice(0, 300 + end)}`);
    fc.assert(
      fc.property(torn, (source) => {
        for (const each of rewriteTorch(source, around('MAE'))) {
          expect(syntaxErrors(each.source)).toBeLessThanOrEqual(syntaxErrors(source));
        }
      }),
      { numRuns: 150 },
    );
  });
});
