import { findKnobs } from '../../../src/agents/automl/knobs.ts';
import { settledScript } from '../../../src/agents/automl/model-writing/settled.ts';
import { syntaxErrors } from '../../../src/agents/automl/python-source.ts';
import { allRewrites } from '../../../src/agents/automl/rewrites/all.ts';
import { surroundingsOf } from '../../../src/agents/automl/rewrites/test-support.ts';
import { seedsSplitData, withValues } from '../../../src/agents/automl/versions.ts';
import { withFreshSeeds } from '../../../src/agents/search/fresh-seeds.ts';
import { slowScripts } from '../../fixtures/slow-scripts.ts';
import { slowScriptsOfNumpy } from '../../fixtures/slow-scripts-of-numpy.ts';
import { torchScripts } from '../../fixtures/torch-scripts.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

const metrics = [
  { name: 'MAE', unit: 'kg', direction: 'minimize' as const },
  { name: 'wall time', unit: 's', direction: 'minimize' as const },
];

export const pythonTarget = defineTarget({
  name: 'python-sources',
  reads: 'scripts that the agent automl rewrites',
  seeds: [
    ...[...slowScripts, ...slowScriptsOfNumpy].map(({ code }) => code),
    ...Object.values(torchScripts).slice(0, 2),
    'import numpy as np\ndef f(x):\n    """TODO: your model here"""\n    pass\nfor i in range(10):\n  y = f(i)\nmodel = ***model***\n',
    `for i in x:\n${'    d = 0\n'.repeat(500)}`,
  ],
  words: [
    ...[
      'def f(x):\n',
      'for i in range(n):\n',
      '    ',
      '\n',
      'lambda x: ',
      'if ',
      'else',
      'while True:\n',
      'class A(B):\n',
      'import numpy as np\n',
    ],
    ...[
      '[i]',
      '[i, j]',
      '+= ',
      '**',
      ' = ',
      '0.1',
      '1e-3',
      'seed=0',
      'np.zeros(n)',
      'math.sqrt(',
      'nn.Linear(1, 2)',
      'torch.',
      'optim.SGD(',
      '"""',
      "'",
      '#',
      '\\\n',
    ],
  ],
  batch: 4,
  maxBytes: 6 * 1024,
  milliseconds: () => 3_000,
  open: () => ({
    run(input) {
      const source = input.toString('utf8');
      settledScript(source, 'MEMBERS 1 2');
      const knobs = findKnobs(source);
      const doubled = withValues(
        source,
        knobs,
        knobs.map(({ value }) => value * 2),
      );
      const raised = withFreshSeeds(doubled, 1);
      hold(syntaxErrors(raised) <= syntaxErrors(source), 'another version is Python as far as it was');
      seedsSplitData(source);
      for (const metric of metrics) allRewrites(source, surroundingsOf(metric));
    },
  }),
});
