import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { fixtureTasks } from '../../test/fixtures/fixture-task.ts';
import { launcher, mlab } from '../../test/fixtures/mlab-process.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import { verbs } from './verbs.ts';

const folder = mkdtempSync(join(tmpdir(), 'mlab-cli-'));
const here = { folder };
afterAll(() => removeTree(folder));

/** Only tasks of the tests; the commands called here prepare none of them. */
const withFixtures = ['--task-dir', fixtureTasks];

describe('help', () => {
  test('without arguments and with --help it lists every command, and that is not an error', async () => {
    const [bare, asked] = await Promise.all([mlab([], here), mlab(['--help'], here)]);
    for (const { code, out, err } of [bare, asked]) {
      expect([code, err]).toEqual([0, '']);
      for (const { name } of verbs) expect(out).toContain(name.split(' ')[0]);
    }
  });

  test('every command has a summary, a usage and an example that begins with its name', async () => {
    const answers = await Promise.all(
      verbs.map(async ({ name }) => ({ name, ...(await mlab([...name.split(' '), '--help'], here)) })),
    );
    for (const { name, code, out } of answers) {
      expect(code).toBe(0);
      expect(out).toContain(`Usage: mlab ${name}`);
      expect(out, name).toMatch(new RegExp(`Examples:\\n  mlab ${name}`));
    }
  });

  test('a group without its command shows its commands', async () => {
    const { code, out, err } = await mlab(['runs'], here);
    expect([code, err]).toEqual([0, '']);
    for (const word of ['ls', 'show', 'diff', 'restore', 'check']) expect(out).toContain(`\n  ${word}`);
  });

  test('mlab help shows a command of a group as its --help does', async () => {
    const { code, out } = await mlab(['--dir', 'x', 'help', 'runs', 'show'], here);
    expect([code, out]).toEqual([0, (await mlab(['runs', 'show', '--help'], here)).out]);
    expect(out).toContain('Usage: mlab runs show');
  });

  test('the help on a flag shows its choices and its default', async () => {
    const out = (await mlab(['run', '--help'], here)).out.replaceAll(/\s+/g, ' ');
    expect(out).toMatch(/--sandbox <driver> .*bubblewrap, docker, none; default: bubblewrap/);
    expect(out).toMatch(/--grade <which> .*final, all, none; default: final/);
    expect(out).toMatch(/--wall-seconds <n> .*else 18000/);
  });

  test('the version is one line', async () => {
    expect((await mlab(['--version'], here)).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** A run of the agent tools on a task. */
function withModel(model: string): string[] {
  return ['run', '--task', 'digits', '--agent', 'tools', '--model', model];
}

describe('wrong usage', () => {
  const cases: [string[], RegExp][] = [
    [['rnu'], /unknown command 'rnu'[\s\S]*Did you mean run\?/],
    [['runs', 'shwo', 'x'], /unknown command 'shwo'[\s\S]*Did you mean show\?/],
    [['runs', 'foo'], /unknown command 'foo'\nmlab runs --help/],
    [['run', '--task', 'digits', '--mirror', 'absent'], /--mirror: there is no folder absent/],
    [['run', '--tsk', 'digits'], /unknown option '--tsk'[\s\S]*Did you mean --task/],
    [['runs', 'show'], /missing required argument 'run'\nmlab runs show --help/],
    [['help', 'rnu'], /unknown command 'rnu'[\s\S]*Did you mean run/],
    [['--quiet', '--verbose', 'runs', 'ls'], /--quiet and --verbose contradict/],
    [['run', '--task', 'digits', '--seed', '1', '--seeds', '4'], /--seed and --seeds contradict/],
    [['run', '--task', 'digits', '--seeds', '7-4'], /--seeds 7-4: not valid seeds[\s\S]*--seed 4/],
    [['run', '--task', 'digits', '--seeds', '1.5'], /--seeds 1\.5: not valid seeds/],
    [['run', '.'], /\. is a folder/],
    [['runs', 'restore', 'none'], /There is no experiment or run "none"/],
    [['tasks', 'check', 'digits', '--only', 'noop,reference-score'], /--only oracle,noop,reference-score/],
    [['tasks', 'check', 'digits', '--only', 'row-shuffle'], /--only oracle,row-shuffle/],
    [['tasks', 'check', 'digits', '--only', 'orcale'], /"oracle"[\s\S]*leak checks are: hidden-values/],
    [['tasks', 'new', 'mine', '--leave-out', 'a'], /--leave-out needs a table/],
    [['tasks', 'baseline', 'digits', '--write', '--sample'], /--write with --sample/],
    [['run'], /No task is given\.\nName tasks with --task or --suite/],
    [['prepare'], /No task is given/],
    [['run', '--task', 'digts'], /digits/],
    [
      ['verify', 'x', '--repeats', '0'],
      /--repeats 0: not a valid number\.\nGive a whole number from 1 to 100/,
    ],
    [['runs', 'show', 'x', '--step', ''], /--step '': not a valid number/],
    [['run', '--from', 'x/y', '--parallel', '0x2'], /--parallel 0x2: not a valid number/],
    [['run', '--suite', 'startr'], /Did you mean "starter"/],
    [['run', '--task', 'digits', '--agent', 'automI'], /Did you mean "automl"/],
    [['run', '--task', 'digits', '--seeds', 'x'], /--seeds x: not valid seeds/],
    [['run', '--task', 'digits', '--seeds', '0'], /seeds: expected at least 1.*how many seeds/],
    [
      ['run', '--task', 'digits', '--steps', '0'],
      /limits\.steps: expected at least 1.*actions an agent may take/,
    ],
    [['run', '--task', 'digits', '--steps', '2.5'], /limits\.steps: expected a whole number, found 2\.5/],
    [['run', '--task', 'digits', '--sandbox', 'chroot'], /--sandbox chroot[\s\S]*bubblewrap, docker, none/],
    [['run', '--task', 'digits', '--incomplete', 'fix'], /--incomplete fix[\s\S]*continue, restart, keep/],
    [
      ['run', '--task', 'digits', '--broken', 'fix'],
      /--broken is called --incomplete now[\s\S]*--incomplete fix: not a valid choice/,
    ],
    [['run', '--task', 'digits', '--name', '../x'], /name: use lower-case letters/],
    [['run', '--task', 'digits', '--seeds', '1,1', '--dry-run'], /planned twice/],
    [
      ['run', '--task', 'digits', '--artifacts', 's3://bucket/runs', '--dry-run'],
      /--artifacts works only with Redis workers/,
    ],
    [['run', '--task', 'digits', '--agent', 'tools'], /needs a language model[\s\S]*--model/],
    [
      ['run', '--task', 'digits', '--agent', 'tools', '--model', 'gpt-5'],
      /models\.0: a provider and a model/,
    ],
    [[...withModel('antropic/x')], /no provider "antropic"\. Did you mean "anthropic"\?/],
    [[...withModel('scripted/none.jsonl')], /none\.jsonl/],
    [[...withModel('scripted/x'), '--agent-option', 'nudges'], /expected name=value/],
    [[...withModel('scripted/x'), '--agent-option', 'nudges=-1'], /"nudges".*at least 0/],
    [[...withModel('scripted/x'), '--profile', 'paper'], /"tools" has no option "profile"/],
    [
      [...withModel('openai-compatible/x'), '--base-url', 'http://127.0.0.1:1/v1', '--money', '1'],
      /openai-compatible\/x: its price is unknown/,
    ],
    [['run', '--from', 'none/x', '--task', 'digits', '--agent', 'noop'], /Leave out --task, --agent\./],
    [['run', '--from', 'none/x', '--clock', 'active'], /keeps the task, agent, seed, experience and clock/],
    [['run', '--from', 'none/x', '--experience', '.'], /Leave out --experience\./],
    [['run', '--from', 'none/x', '--parallel', '2'], /--from starts one run[\s\S]*Leave out --parallel/],
    [['run', '--task', 'digits', '--experience', 'none'], /There is no experience in/],
    [['experience', 'ls'], /There is no experience in .*\n.*mlab experience add/],
    [['run', '--from', 'none/x'], /There is no experiment or run "none\/x"/],
    [['runs', 'replay', 'none'], /There is no experiment or run "none"/],
    [['run', 'none.yaml'], /There is no experiment file none\.yaml/],
    [['grade', 'x', '--steps', 'some'], /--steps some: not a valid choice/],
    [['report'], /Name an experiment/],
    [['report', 'none*'], /No experiment or run in .* matches "none\*"/],
    [['grade', 'none*/x'], /No experiment or run in .* matches "none/],
    [['view', 'none'], /There is no experiment or run "none"/],
    [
      ['run', '--tasks', 'digits'],
      /--tasks is called --task-dir now[\s\S]*There is no folder digits[\s\S]*use --task to choose tasks/,
    ],
    [['report', 'none', '--format', 'pdf'], /--format pdf.*text, markdown, csv/s],
    [['report', 'none', '--table', 'result'], /did you mean "results"/],
    [['report', 'none'], /There is no experiment or run "none"/],
    [['runs', 'show', 'none/x'], /There is no experiment or run "none\/x"/],
    [['runs', 'show', 'none'], /There is no experiment or run "none"/],
    [['tasks', 'show', 'digit'], /digits/],
  ];
  test.each(cases)(
    'mlab %j says what is wrong and what to do, on standard error only',
    async (argv, message) => {
      const { code, out, err } = await mlab(argv, here);
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/^mlab: /);
      expect(err).toMatch(message);
      expect(err).not.toContain('    at ');
    },
  );

  test('a missing key is reported before anything is created, with a separate exit code', async () => {
    const { code, out, err } = await mlab(withModel('anthropic/claude-sonnet-4-5'), here);
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/anthropic\/claude-sonnet-4-5 is not usable[\s\S]*ANTHROPIC_API_KEY/);
  });

  test('with --json the error is the one document on standard output', async () => {
    for (const argv of [
      ...[['report', 'none'], ['rnu'], ['runs'], ['run', '--tsk']],
      ['report', 'none', '--format', 'csv'],
    ]) {
      const { code, out } = await mlab([...argv, '--json'], here);
      expect(code).toBe(2);
      expect(JSON.parse(out)).toMatchObject({
        error: { code: expect.any(String), message: expect.any(String) },
      });
    }
  });
});

describe('answers', () => {
  test('--json prints one document on standard output, also if there is nothing to show', async () => {
    for (const argv of [
      ['tasks', 'ls'],
      ['tasks', 'show', 'sums'],
      ['runs', 'ls'],
      ['run', '--task', 'sums', '--dry-run'],
    ]) {
      const { code, out } = await mlab([...withFixtures, ...argv, '--json'], here);
      expect(code, out).toBe(0);
      expect(typeof JSON.parse(out)).toBe('object');
    }
  });

  test('a model that no agent uses is named', async () => {
    const argv = ['run', ...withFixtures, '--task', 'sums', '--model', 'openai/gpt-5', '--dry-run'];
    const note = 'No run uses a language model: --model openai/gpt-5 has no effect.';
    expect((await mlab([...argv, '--agent', 'noop,baseline'], here)).err).toContain(note);
    expect((await mlab([...argv, '--agent', 'noop,tools'], here)).err).not.toContain(note);
  });

  test('a dry run prints the plan and creates nothing', async () => {
    const cache = join(folder, 'untouched');
    const argv = [
      '--dir',
      'planned',
      ...withFixtures,
      'run',
      '--task',
      'sums',
      '--seeds',
      '2',
      '--agent',
      'noop,baseline',
      '--dry-run',
    ];
    const { code, out } = await mlab(argv, { folder, variables: { MLAB_CACHE: cache } });
    expect(code).toBe(0);
    for (const id of ['sums-noop-0', 'sums-noop-1', 'sums-baseline-0', 'sums-baseline-1'])
      expect(out).toContain(id);
    const { stdout } = await promisify(execFile)('find', [
      folder,
      '-name',
      'plan.json',
      '-o',
      '-name',
      'data',
    ]);
    expect(stdout).toBe('');
  });

  test('the folder of an experiment has another name if an option of its agent differs', async () => {
    const plan = ['run', ...withFixtures, '--task', 'sums', '--agent', 'automl', '--dry-run', '--json'];
    const nameWith = async (...flags: string[]) =>
      JSON.parse((await mlab([...plan, ...flags], here)).out).name;
    const patient = await nameWith('--agent-option', 'max_tries=9');
    expect(patient).not.toBe(await nameWith());
    expect(patient).toBe(await nameWith('--agent-option', 'max_tries=9'));
  });

  test.each([['--money'], ['--experiment-money']])(
    '%s is refused before anything runs if the price of a model is unknown',
    async (limit) => {
      const model = ['--model', 'openai-compatible/x', '--base-url', 'http://localhost:9/v1'];
      const argv = ['run', ...withFixtures, '--task', 'sums', '--agent', 'act', ...model, limit, '1'];
      const { code, err } = await mlab(argv, here);
      expect(code).toBe(2);
      expect(err).toMatch(/openai-compatible\/x: its price is unknown/);
    },
  );

  test.each([
    [['--step', '2', '--task', 'sums'], /Name it with --from/],
    [['--from', 'a/b', '--agent', 'tools'], /Leave out .*--agent/],
    [['--from', 'a/b', '--seeds', '3'], /Leave out .*--seeds/],
  ])('run %j is refused, as part of it would be ignored', async (flags, message) => {
    const { code, err } = await mlab(['run', ...withFixtures, ...flags], here);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  test('flags override the experiment file, limit by limit', async () => {
    const file = join(folder, 'experiment.yaml');
    writeFileSync(file, 'tasks: [sums]\nagents: [noop]\nseeds: 3\nlimits: { steps: 4, wall_seconds: 60 }\n');
    const argv = [...withFixtures, 'run', file, '--seeds', '7,9', '--steps', '5', '--dry-run', '--json'];
    const plan = JSON.parse((await mlab(argv, here)).out);
    expect(plan.runs.map(({ id }: { id: string }) => id)).toEqual(['sums-noop-7', 'sums-noop-9']);
    expect(plan.runs[0].limits).toMatchObject({ steps: 5, wall_seconds: 60, script_seconds: 30 });
  });

  test('problems in an experiment file are reported key by key, with the probable spelling', async () => {
    const file = join(folder, 'wrong.yaml');
    writeFileSync(file, 'task: [sums]\nseeds: many\nagents: 3\nlimits: { step: 4, memory_mb: 1 }\n');
    const { code, err } = await mlab([...withFixtures, 'run', file], here);
    expect(code).toBe(2);
    expect(err).toContain(`${file} can't be used`);
    expect(err).toContain('task: unknown key; did you mean "tasks"?');
    expect(err).toContain('limits.step: unknown key; did you mean "steps"?');
    expect(err).toMatch(/line 2: seeds: expected a number; or expected a list .*how many seeds/);
    expect(err).toMatch(/agents: expected a list.*\(agents: agents, by name/);
    expect(err).toMatch(/limits\.memory_mb: expected at least 64.*in MiB/);
    for (const [content, message] of [
      ['tasks: [a\n', "can't be read as an experiment"],
      ['tasks: !list [a]\n', 'Unresolved tag: !list at line 1'],
      ['- a\n', 'has no keys'],
      ['', 'has no keys'],
    ]) {
      writeFileSync(file, content ?? '');
      expect((await mlab(['run', file], here)).err).toContain(message);
    }
  });

  test('a reader that stops early is not an error', async () => {
    const command = `'${process.execPath}' '${launcher}' tasks ls --json | head -c 1; echo " \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], { cwd: folder });
    expect([stdout, stderr]).toEqual(['{ 0\n', '']);
  });

  test('an experiment that cannot be read does not hide the others', async () => {
    const experiments = join(folder, 'some');
    mkdirSync(join(experiments, 'broken'), { recursive: true });
    writeFileSync(join(experiments, 'broken/plan.json'), '{');
    const { code, err } = await mlab(['runs', 'ls', '--dir', experiments], here);
    expect(code).toBe(0);
    expect(err).toContain('broken is left out');
  });
});

test('a command that needs a folder for temporary files says which one is not there', async () => {
  const gone = join(folder, 'scratch of a job that is over');
  const { code, err } = await mlab(['doctor'], { folder, variables: { TMPDIR: gone } });
  expect([code, err]).toEqual([3, expect.stringContaining(`Create ${gone}`)]);
});

describe('a dry run', () => {
  test('accepts seeds as a range, or a single one', async () => {
    const dry = ['run', ...withFixtures, '--task', 'sums', '--agent', 'noop', '--dry-run', '--json'];
    const plans = [
      [...dry, '--seeds', '4-6'],
      [...dry, '--seed', '3'],
    ].map(async (argv) => JSON.parse((await mlab(argv, here)).out) as { runs: { seed: number }[] });
    const seeds = (await Promise.all(plans)).map(({ runs }) => runs.map(({ seed }) => seed));
    expect(seeds).toEqual([[4, 5, 6], [3]]);
  });

  test('refuses an unknown provider, and reports a model without a price, without a key', async () => {
    const unknown = await mlab([...withModel('antropic/x'), '--dry-run'], here);
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('Did you mean "anthropic"?')]);
    const misspelt = await mlab([...withModel('anthropic/claude-sonet-4-5'), '--dry-run'], here);
    expect(misspelt.code).toBe(0);
    expect(misspelt.err).toContain('its price is unknown');
    expect(misspelt.err).toContain('Did you mean anthropic/claude-sonnet-4-5?');
    const limited = await mlab(
      [...withModel('anthropic/claude-sonet-4-5'), '--money', '1', '--dry-run'],
      here,
    );
    expect([limited.code, limited.err]).toEqual([2, expect.stringContaining("can't be enforced")]);
    const quiet = await mlab(['-q', ...withModel('anthropic/claude-sonet-4-5'), '--dry-run'], here);
    expect([quiet.code, quiet.err]).toEqual([0, '']);
  });
});
