import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKeys, readSettings } from '../../../src/cli/settings.ts';
import { recordedExecutor } from '../../../src/store/index.ts';
import { defineTarget } from '../engine/target.ts';
import { yamlMilliseconds, yamlWords } from './configuration.ts';
import { hold } from './containers.ts';

export const settingsTarget = defineTarget({
  name: 'settings',
  reads: 'mlab.config.yaml of a folder',
  seeds: [
    'experiments: runs\ntasks: [mine, ../others]\nconfirm_above: 5\nrun: { seeds: [1, 2], parallel: 2 }\n',
    'run:\n  models: [openai/x]\n  limits: { steps: 5 }\ncache: /tmp/x\n',
  ],
  words: [...yamlWords, 'experiments', 'tasks', 'confirm_above', 'run', 'cache', '__proto__'],
  batch: 8,
  milliseconds: yamlMilliseconds,
  open: (folder) => ({
    async run(input) {
      writeFileSync(join(folder, 'mlab.config.yaml'), input);
      const { variables } = await readSettings(folder);
      hold(
        Object.keys(variables).every((name) => name === 'MLAB_EXPERIMENTS'),
        'settings change one variable at most',
      );
    },
  }),
});

/** Already set: neither it nor the address of its provider may be replaced. */
const given = { OPENAI_API_KEY: 'sk-given' };

export const keysTarget = defineTarget({
  name: 'keys',
  reads: '.env of a folder',
  seeds: [
    'ANTHROPIC_API_KEY=sk-x\nANTHROPIC_BASE_URL=http://localhost/v1\nMLAB_MODEL="openai/x"\n',
    "OPENAI_API_KEY='other'\nOPENAI_BASE_URL=http://localhost\nMLAB_DOCKER=/bin/sh\nexport PATH=/tmp\nA=$B\\n\n",
  ],
  words: ['_API_KEY=', 'OPENAI_', 'BASE_URL=', 'KAGGLE_', 'MLAB_', 'export ', '"', "'", '#', '`', '\r\n'],
  open: (folder) => ({
    async run(input) {
      writeFileSync(join(folder, '.env'), input);
      for (const name of Object.keys(await readKeys(folder, given))) {
        hold(
          !/^(OPENAI_(API_KEY|BASE_URL)|MLAB_(DOCKER|CACHE|EXPERIMENTS)|PATH|NODE_\w+|LD_\w+)$/.test(name),
          `${name} is taken`,
        );
        hold(/^\w+$/.test(name), 'a name is one word');
      }
    },
  }),
});

export const executorTarget = defineTarget({
  name: 'executor',
  reads: 'executor.json of an experiment',
  seeds: ['{"v":1,"on":"slurm"}\n', '{"v":1,"on":"redis://user:word@localhost:6379/1"}\n'],
  words: ['"v":', '"on":', '__proto__', 'redis://', 'local'],
  open: (folder) => ({
    run(input) {
      writeFileSync(join(folder, 'executor.json'), input);
      recordedExecutor(folder);
    },
  }),
});
