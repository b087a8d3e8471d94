import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { saveCorpus } from './engine/corpus.ts';
import { fuzzTargets } from './engine/fuzz-targets.ts';
import { targets } from './targets.ts';

const help = `npm run fuzz [-- TARGET … --seconds N --seed N --findings FOLDER --save-corpus]

Feeds what reads the bytes of others with changed inputs, and keeps those that reach new code. A finding is an exception
that is no UserError, more time or memory than the input's size explains, or a broken promise of the target.

  TARGET         part of a target's name; default: all of them, one after the other
  --seconds      for each target; default: 10; 0: the kept inputs alone
  --seed         of the random numbers; default: by the clock
  --findings     where inputs are put that were findings; default: fuzz-findings
  --save-corpus  keeps the inputs that cover most in test/fuzz/corpus

Targets:
${targets.map(({ name, reads }) => `  ${name.padEnd(18)} ${reads}`).join('\n')}
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    findings: { type: 'string', default: 'fuzz-findings' },
    'save-corpus': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const chosen = targets.filter(
  ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
);
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (values.help || chosen.length === 0 || !(seconds >= 0) || !Number.isSafeInteger(seed)) {
  console.log(help);
  process.exit(values.help ? 0 : 2);
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());
console.log(`seed ${seed}, ${seconds} s a target`);
let findings = 0;
await fuzzTargets(chosen, {
  ...{ seconds, seed, signal: stop.signal },
  found(target, { kind, signature, message }, input) {
    findings += 1;
    const hash = createHash('sha256').update(input).digest('hex').slice(0, 12);
    const path = join(values.findings, target, `${kind}-${hash}`);
    mkdirSync(join(values.findings, target), { recursive: true });
    writeFileSync(path, input);
    writeFileSync(`${path}.said`, `${signature}\n${message}\n`);
    console.log(`${target}: ${kind}: ${signature}\n  ${path} (${input.length} bytes)`);
  },
  skipped: (target, why) => console.log(`${target.padEnd(18)} skipped: ${why}`),
  ended(target, { executions, covered, corpus }) {
    if (values['save-corpus']) saveCorpus(target, corpus);
    const counts = `${executions} executions, ${covered} blocks, ${corpus.length} inputs kept`;
    console.log(`${target.padEnd(18)} ${counts}`);
  },
});
console.log(`${findings} findings`);
process.exit(findings > 0 ? 1 : 0);
