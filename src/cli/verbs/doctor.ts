import { styleText } from 'node:util';
import type { DoctorCheck } from '../../lib/doctor-check.ts';
import { checkSandbox } from '../../sandbox/index.ts';
import { checkCacheDisk, checkInstaller, checkKaggle, checkPython } from '../../tasks/index.ts';
import { exitCodes } from '../context.ts';
import type { Verb } from '../verb.ts';

const signs = {
  ok: styleText('green', '✓'),
  warning: styleText('yellow', '!'),
  missing: styleText('red', '✗'),
};

export const doctor: Verb = {
  arguments: [],
  flags: [],
  details: 'Exit code 1 when something is missing without which no run can start.',
  examples: [['mlab doctor', 'sandbox, Python, GPU, credentials, disk']],
  async run(context) {
    const { variables, folders, signal } = context;
    const findings: DoctorCheck[] = [
      { name: 'Node', state: 'ok', detail: process.version, fix: null },
      await checkPython({ variables, signal }),
      await checkInstaller(folders.cache, { variables, signal }),
      ...(await checkSandbox(variables)),
      checkKaggle(variables),
      await checkCacheDisk(folders.cache),
    ];
    const lines = findings.map(({ name, state, detail, fix }) => {
      const line = `${signs[state]} ${name.padEnd(12)} ${detail}`;
      return fix === null ? line : `${line}\n${' '.repeat(15)}→ ${fix}`;
    });
    const isMissing = findings.some(({ state }) => state === 'missing');
    return {
      text: `${lines.join('\n')}\n\n${isMissing ? 'Something is missing; the arrows say what to do.' : 'Ready.'}`,
      json: { findings },
      exitCode: isMissing ? exitCodes.negative : exitCodes.ok,
    };
  },
};
