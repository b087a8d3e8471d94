import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { importOriginalRuns } from '../../../src/exchange/index.ts';
import { ReadingBudget } from '../../../src/exchange/original/limits.ts';
import { readTornJson } from '../../../src/exchange/original/torn-json.ts';
import { logFolderFiles, madeUpRun, packedFiles } from '../../fixtures/original-run.ts';
import { defineTarget } from '../engine/target.ts';
import { filesAsInput, writeFilesIn } from './containers.ts';

const made = madeUpRun();
const short = { ...made, steps: made.steps.slice(2, 4), innerSteps: made.innerSteps.slice(0, 2), final: {} };
const plainGzip = Object.fromEntries(
  [...packedFiles({ ...short, final: {} })]
    .filter(([path]) => !path.endsWith('.gz'))
    .map(([path, content]) => [path, String(content)]),
);
const logs = Object.fromEntries(logFolderFiles({ ...short, agentCalls: made.agentCalls.slice(0, 3) }));

export const importTarget = defineTarget({
  name: 'imported-logs',
  reads: "log folders and packed runs of the original's, for mlab runs import",
  seeds: [
    filesAsInput(prefixed(logs)),
    filesAsInput(
      prefixed({
        ...plainGzip,
        'calls.jsonl.gz':
          '{"role":"agent","agent_step":0,"prompt":"p","completion":"Action: X","model":"m","max_tokens":"5","prompt_tokens":1,"sampled_tokens":2}\n',
        'trace.json.gz':
          '{"steps":[{"action":{"name":"Read File","args":{}},"observation":"o","timestamp":1.7e9}],"low_level_steps":[],"task_description":"p"}',
        'snapshots.tsv.gz': `0\ttrain.py\t12\t${'a'.repeat(16)}\nfinal\ttrain.py\t12\t${'a'.repeat(16)}\n`,
        'final_files/train.py': 'print(0.5)\n',
      }),
    ),
  ],
  words: [
    ...[
      '=== digits/1/env_log/trace.json\n',
      '=== digits/1/agent_log/step_1_log.log\n',
      '=== digits/1/trace.json.gz\n',
    ],
    ...[
      '=== digits/1/env_log/traces/step_0_files/a\n',
      '=== digits/1/meta.json\n',
      '=== digits/1/calls.jsonl.gz\n',
      '"steps":',
      '"timestamp":',
    ],
    ...[
      '===================prompt=====================\n',
      '===================tokens=====================\n',
      'Human:',
      'Assistant:',
      'final\t',
    ],
  ],
  batch: 4,
  maxBytes: 24 * 1024,
  milliseconds: (bytes) => 1_500 + bytes / 20,
  open: (folder) => ({
    async run(input) {
      const [logsFolder, experiments] = [join(folder, 'logs'), join(folder, 'experiments')];
      rmSync(experiments, { recursive: true, force: true });
      writeFilesIn(input, logsFolder, (path, content) =>
        path.endsWith('.gz') && content[0] !== 0x1f ? gzipSync(content) : content,
      );
      await importOriginalRuns({
        ...{ folders: [logsFolder], experiments, taskFolders: [], sandbox: 'none', version: '1' },
        onProgress() {},
        signal: new AbortController().signal,
      });
    },
  }),
});

function prefixed(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [`llama/digits/1/${path}`, content]),
  );
}

export const tornJsonTarget = defineTarget({
  name: 'torn-json',
  reads: 'JSON that was cut off in the middle',
  seeds: ['{"a":[1,{"b":"c\\"', '[1,2,', '{"a":tru', '{"steps":[{"x":1},{"y":'],
  words: ['{"a":', '[', '"', '\\"', 'null', 'true', '-1.5e3', ',', ':', '\\u00'],
  batch: 128,
  open: () => ({
    run(input) {
      readTornJson(input.toString('utf8'), new ReadingBudget());
    },
  }),
});
