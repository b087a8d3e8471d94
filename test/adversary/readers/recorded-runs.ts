import type { Grade } from '../../../src/schema/index.ts';
import { attack, held, worked } from '../attack.ts';
import { changing, type Json, layOut, recordedRun as run } from '../recorded-experiment.ts';

const most = Number.MAX_SAFE_INTEGER;
const report = ['report', 'first', '--format', 'json'];
const show = ['runs', 'show', run];
const table = ['runs', 'export', run, '--to', 'csv', '--out', 'out'];
const git = ['runs', 'export', run, '--to', 'git', '--out', 'out'];

/** Others share an experiment, and commands read it: each must end soon, and in an orderly way. */
function handingOver(
  title: string,
  given: { grade?: Partial<Grade>; event?: (event: Json) => Json },
  ...commands: string[][]
) {
  return attack({
    title,
    scope: 'host',
    long: true,
    seconds: 60,
    run: async (stage) => {
      await layOut(stage, given.grade ?? {}, given.event ?? ((event) => event));
      const said: string[] = [];
      for (const argv of commands) {
        const start = performance.now();
        const { code, err } = await stage.mlab(argv);
        if (/ --help/.test(err)) throw new Error(err);
        if (code === 4 || code === null)
          return worked(`${argv.join(' ')}: exit code ${code}: ${err.slice(0, 200)}`);
        if (performance.now() - start > 20_000) return worked(`${argv.join(' ')} took long`);
        said.push(`${argv.slice(0, 2).join(' ')}: exit code ${code}`);
      }
      return held(said.join('; '));
    },
  });
}

const running = (command: string) =>
  changing('step_started', { action: 'Run Command', args: { text: JSON.stringify({ command }) } });
const figuresOf = (mean: number, spread: number, seeds: number) => {
  const figures = { mean, spread, seeds };
  return { baseline: figures, reference: figures, best: null };
};

/** A reply whose arguments are as deep as the limit allows. */
const deepReply = () => {
  const input: unknown = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`);
  const tool_calls = [{ id: 'a', name: 'Run Command', input }];
  return { text: JSON.stringify({ kind: 'answered', text: '', tool_calls, finish: 'tool_calls' }) };
};

export default [
  attack({
    title: 'makes its run unreadable by arguments that are as deep as they may be',
    scope: 'host',
    long: true,
    run: async (stage) => {
      await layOut(stage, {}, changing('model_call', { answer: deepReply() }));
      const { code, out, err } = await stage.mlab(report);
      const isRead = code === 0 && /"score": 0\.95/.test(out);
      return isRead ? held('the run is in the report') : worked(`exit code ${code}: ${err.slice(0, 200)}`);
    },
  }),
  handingOver(
    'says that a baseline was measured with all seeds there are',
    { grade: { figures: figuresOf(0.9, 0.1, most) } },
    report,
    show,
  ),
  handingOver(
    'says that a baseline is next to nothing',
    { grade: { score: 1.7e308, baseline: 5e-324, figures: figuresOf(5e-324, 1.7e308, 2) } },
    report,
    show,
  ),
  handingOver(
    'records an event after the last day',
    { event: changing('step_finished', { time: most }) },
    table,
    git,
    show,
  ),
  handingOver(
    'records an event before the first day',
    { event: changing('run_ended', { time: -most }) },
    table,
    git,
    show,
  ),
  handingOver(
    'numbers a step so that a list of all steps has no end',
    { event: (event) => (event.step === 2 ? { ...event, step: most } : event), grade: { step: most } },
    report,
    show,
    table,
  ),
  handingOver(
    'writes a command of 300,000 lines, all empty',
    { event: running('\n'.repeat(300_000)) },
    report,
    show,
  ),
  handingOver(
    'writes a command that begins a word 100,000 times, and ends none',
    { event: running(`submission.csv ${'echo "\''.repeat(100_000)}`) },
    report,
    show,
  ),
  handingOver(
    'nests arguments of an action 100,000 deep',
    { event: changing('step_started', { args: { text: `${'['.repeat(100_000)}${']'.repeat(100_000)}` } }) },
    report,
    show,
    table,
  ),
  handingOver(
    'names an entry of notes as a part of objects',
    {
      event: (event) =>
        event.kind === 'run_ended'
          ? event
          : { ...event, entries: JSON.parse('{"__proto__":{"text":"x"},"constructor":{"text":"x"}}') },
    },
    report,
    show,
    table,
  ),
  handingOver(
    'says that it used more time, tokens and money than a number holds',
    {
      event: changing('model_call', {
        cost: 1.7e308,
        latency_ms: 1.7e308,
        usage: {
          input: most,
          cached_input: most,
          cache_write: most,
          output: most,
          reasoning: most,
          source: 'provider',
        },
      }),
    },
    report,
    show,
    table,
  ),
  handingOver(
    'refers to messages of a call that follows',
    {
      event: changing('model_call', {
        messages: [
          { call: 1, from: 0, count: most },
          { call: 2, from: most, count: most },
        ],
      }),
    },
    ['runs', 'calls', run, '--call', '1'],
    ['runs', 'calls', run],
    table,
  ),
  handingOver(
    'names an event as no event',
    { event: changing('step_finished', { kind: '__proto__' }) },
    report,
    show,
    table,
  ),
];
