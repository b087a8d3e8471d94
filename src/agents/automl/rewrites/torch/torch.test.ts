import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { briefOf } from '../../../../../test/fakes/fake-environment.ts';
import { epochScripts } from '../../../../../test/fixtures/epoch-scripts.ts';
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

const { flat, table, text, names, language, trainer } = torchScripts;

describe('rewrites of scripts that use PyTorch', () => {
  it('replace the optimizer and keep its parameters, however it is imported', () => {
    expect(changed(flat, 'AdamW')).toEqual([
      'optimizer = optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)',
    ]);
    expect(changed(names, 'AdamW, fast')).toEqual([
      'import torch',
      'opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)',
    ]);
    expect(offers(language).has('AdamW')).toBe(false);
    const grouped = 'import torch\no = torch.optim.SGD([{"params": p, "lr": 0.1}], lr=1.0)\n';
    expect(offers(grouped).size).toBe(0);
  });

  it('schedule the learning rate through loops and functions, in place of an existing schedule', () => {
    expect(changed(flat, 'warm-up and cosine decay')).toEqual([
      'optimizer = scheduled(optim.SGD(net.parameters(), lr=0.001), warm_up=0.1, falls="cosine")',
      'for epoch in planned(range(3), "epochs"):',
      'for i, (inputs, targets) in enumerate(planned(train_loader, "batches")):',
    ]);
    expect(changed(trainer, 'one cycle')).toEqual([
      'self.optimizer = scheduled(torch.optim.Adam([{"params": model.parameters()}], lr=lr), warm_up=0.3, falls="linear")',
      'for epoch in planned(range(self.epochs), "epochs"):',
      'for part in planned(torch.randperm(len(x)).split(16), "batches"):',
    ]);
    expect(offers(trainer).get('one cycle')?.source).not.toContain('self.scheduler.step(loss)');
    expect(changed(language, 'one cycle')).toContain('for step in planned(range(MAX_STEPS), "epochs"):');
  });

  it('normalise inner layers, and never those that give the output', () => {
    expect(changed(flat, 'batch normalisation of convolutions')).toEqual([
      'self.conv1 = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6))',
      'self.conv2 = nn.Sequential(nn.Conv2d(6, 16, 3), nn.BatchNorm2d(16))',
    ]);
    expect(changed(text, 'layer normalisation')).toEqual([
      'self.head = nn.Sequential(nn.Sequential(nn.Linear(config.hidden_size, 10), nn.LayerNorm(10)), nn.ReLU(), nn.Linear(10, 3))',
    ]);
    expect(offers(language).has('layer normalisation')).toBe(false);
    const looked = flat.replace('net = Net()', 'net = Net()\nnn.init.zeros_(net.conv1.weight)');
    expect(changed(looked, 'batch normalisation of convolutions')).toHaveLength(1);
  });

  it('replace activations between layers, and none that gives the output', () => {
    expect(changed(flat, 'ReLU')).toEqual([
      'x = F.max_pool2d(torch.nn.functional.relu(self.conv1(x)), 2)',
      'x = torch.nn.functional.relu(self.fc1(x.view(x.size(0), -1)))',
    ]);
    const ending =
      'import torch\nfrom torch import nn\nm = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1), nn.Sigmoid())\n';
    expect(offers(ending).has('ReLU')).toBe(false);
    expect(offers(trainer).get('GELU')?.source).toContain('nn.GELU(),\n        nn.Conv1d');
  });

  it('shift pictures only in training', () => {
    expect(changed(flat, 'moved and mirrored pictures').at(-1)).toBe(
      'outputs = net(shifted(inputs, flip=True))',
    );
    for (const source of [table, text, names, language, trainer]) {
      expect(offers(source).has('moved pictures')).toBe(false);
    }
    const answering = flat.replace('nn.Linear(24, 2)', 'nn.ConvTranspose2d(24, 2, 3)');
    expect(offers(answering).has('moved pictures')).toBe(false);
  });

  it('smooth labels only if the metric does not measure how certain a network is', () => {
    expect(changed(flat, 'label smoothing')).toEqual([
      'criterion = nn.CrossEntropyLoss(label_smoothing=0.1)',
    ]);
    expect(offers(flat, 'cross entropy').has('label smoothing')).toBe(false);
    expect(changed(table, 'absolute error', 'MAE')).toEqual(['loss_function = torch.nn.L1Loss()']);
    expect(offers(table, 'RMSE').has('absolute error')).toBe(false);
  });

  it('keep the best epoch by what the script measures in each of them, in its direction', () => {
    const { assigned, printed, fitted, owned } = epochScripts;
    expect(changed(assigned, 'best epoch')).toEqual([
      'best_of_epochs = BestEpoch(larger=False)',
      'print(f"epoch {epoch}: train loss {loss.item():.4f}, val loss {best_of_epochs.note(model, val_loss):.6f}")',
      'val_loss = best_of_epochs.restore(model)',
    ]);
    expect(changed(printed, 'best epoch').slice(-2)).toEqual([
      'print(f"epoch {epoch} | loss {loss.item():.3f} | validation accuracy {best_of_epochs.note(net, 100 * right / 80):.4f}")',
      'print("best epoch: validation accuracy:", best_of_epochs.restore(net))',
    ]);
    expect(changed(fitted, 'best epoch', 'log loss').at(-2)).toContain('best_of_epochs.note(model, val_acc)');
    expect(changed(owned, 'best epoch').at(-2)).toContain(
      `{best_of_epochs.note(self.model, metrics['accuracy']):.6f}`,
    );
    const silent = fitted.replace(/^ *print\("Epoch.*\n/m, '');
    expect(changed(silent, 'best epoch')).toEqual([
      'best_of_epochs = BestEpoch(larger=True)',
      'best_of_epochs.note(model, val_acc)',
      'best_of_epochs.restore(model)',
    ]);
    expect(offers(assigned).get('best epoch')?.weight).toBeGreaterThan(
      offers(printed).get('best epoch')?.weight ?? 1,
    );
  });

  it('measure after each epoch what is measured after the last one, if everything for it exists before the loop', () => {
    const { called } = epochScripts;
    expect(changed(called, 'best epoch')).toEqual([
      'best_of_epochs = BestEpoch(larger=True)',
      'best_of_epochs.measure(net, accuracy, net, val_x, val_y)',
      'best_of_epochs.restore(net)',
    ]);
    const late = called.replace('    print(f"train acc', '    val_x = x[40:]\n    print(f"train acc');
    expect(offers(late).has('best epoch')).toBe(false);
  });

  it('keep no best epoch if the script does, if nothing follows, or if several models train', () => {
    const { assigned, printed } = epochScripts;
    for (const source of [
      flat,
      `${assigned}model.load_state_dict(torch.load("best.pt"))\n`,
      printed.replace(/\nrate = .*net.*/, ''),
      printed.replaceAll('validation', 'test'),
      printed
        .replace('    net.train()\n', '    net.train()\n    other.train()\n')
        .replace('net = Net()', 'net, other = Net(), Net()\nother.parameters()'),
      printed.replace('    net.train()\n', '    net = Net()\n    net.train()\n'),
    ]) {
      expect(offers(source).has('best epoch'), source).toBe(false);
    }
  });

  it('draw new initial weights where a whole model is made, unless it is pretrained or has its own initialisation', () => {
    expect(changed(flat, 'He initialisation')).toEqual(['net = initialised(Net(), "He")']);
    expect(changed(text, 'orthogonal initialisation')).toEqual([
      'model = initialised(Classifier(config), "orthogonal")',
    ]);
    expect(changed(names, 'small last layer')).toEqual([
      'model = initialised(Sequential(Linear(5, 20), Sigmoid(), Linear(20, 8), Sigmoid(), Linear(8, 1)), "small last layer")',
    ]);
    expect(offers(names).has('He initialisation')).toBe(false);
    expect(offers(language).has('small last layer')).toBe(false);
    for (const line of ['net.load_state_dict(torch.load("net.pt"))', 'nn.init.zeros_(net.fc2.bias)'])
      expect(offers(flat.replace('net = Net()', `net = Net()\n${line}`)).has('He initialisation')).toBe(
        false,
      );
  });

  it('are offered only once', () => {
    for (const source of [flat, trainer, epochScripts.printed]) {
      for (const { name, source: rewritten } of allOffers(source, 'MAE')) {
        if (/GELU|momentum/.test(name)) continue;
        expect(rewriteTorch(rewritten, around('MAE')).map((each) => each.name)).not.toContain(name);
      }
    }
  });

  it('say what is changed in which line, and combine rewrites that are usually used together', () => {
    const scripts = [...Object.values(torchScripts), ...Object.values(epochScripts)];
    for (const each of scripts.flatMap((source) => allOffers(source, 'MAE'))) {
      expect(each.change).toMatch(/\blines? \d+.*\.$/);
      expect(each.reason).toMatch(/^[a-z].*\.$/s);
      expect(each.weight).toBeGreaterThan(0);
      expect(each.effort).toBeGreaterThanOrEqual(1);
    }
    expect(changed(flat, 'usual recipe for pictures')).toHaveLength(7);
  });

  it('leave scripts without PyTorch unchanged, and never throw, whatever the text', () => {
    expect(rewriteTorch('import optim\noptimizer = optim.SGD(x, lr=1)\n', around('MAE'))).toEqual([]);
    const whole = [...Object.values(torchScripts), ...Object.values(epochScripts)].join('\n');
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
