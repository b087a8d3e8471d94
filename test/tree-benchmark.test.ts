import { describe, expect, it } from 'vitest';
import { hashed } from '../bench/draws.ts';
import { SimulatedModel } from '../bench/tree/models.ts';
import { Problem } from '../bench/tree/problem.ts';
import { simulatedSearch } from '../bench/tree/simulated-search.ts';
import { textOf, versionIn } from '../bench/tree/version.ts';
import { tree } from '../bench/tree.ts';

const wanted = { seed: 3, noise: 0.05, interacts: true, seconds: 60 };
const problem = new Problem(wanted);
const approach = problem.approaches[0] ?? '';
const script = (names: Iterable<string>, seed = 0) =>
  textOf({
    ...versionIn(problem.starter),
    ...{ seed, changes: new Map([...names].map((name) => [name, { repaired: true }])) },
  });

describe('the simulated problems of the benchmark of tree', () => {
  it('give the same problem and the same runs for the same seeds, and others for others', () => {
    const useful = script(problem.usefulWith(approach));
    expect(new Problem(wanted).run(useful, '1')).toEqual(problem.run(useful, '1'));
    expect(problem.run(script(problem.usefulWith(approach), 1), '1').output).not.toBe(
      problem.run(useful, '1').output,
    );
    expect(new Problem({ ...wanted, seed: 4 }).run(useful, '1')).not.toEqual(problem.run(useful, '1'));
  });

  it('have a regret of 1 for the starter, and of 0 for the best version', () => {
    expect(problem.regretOf(problem.starter)).toBe(1);
    const regrets = problem.approaches.map((name) =>
      problem.regretOf(
        script(problem.usefulWith(name)).replace(`approach("${approach}")`, `approach("${name}")`),
      ),
    );
    expect(Math.min(...regrets)).toBeCloseTo(0);
    for (const change of problem.usefulWith(approach))
      expect(
        problem.regretOf(script([...problem.usefulWith(approach)].filter((name) => name !== change))),
      ).toBeGreaterThan(problem.regretOf(script(problem.usefulWith(approach))));
  });

  it('stop a script at its own limit, and name the line in which it failed', () => {
    const ran = problem.run(`__import__("signal").alarm(3)\n${problem.starter}`, '1');
    expect(ran).toMatchObject({ exitCode: null, seconds: 3 });
    expect(problem.run(`${problem.starter}use("change-0"\n`, '1')).toMatchObject({ exitCode: 1 });
    const outputs = problem.changes.map((name) =>
      problem.run(script([name]).replace(', repaired=True', ''), '1'),
    );
    expect(outputs.filter(({ exitCode }) => exitCode === 1).length).toBeGreaterThan(0);
  });
});

describe('the simulated models', () => {
  const ask = (memory: string) => ({
    ...({ role: 'agent', purpose: 'improve' } as const),
    messages: [
      {
        role: 'user' as const,
        text: `## Your job: improve\n\n## The version\n\n\`\`\`\n${problem.starter}\`\`\`\n\n## What was tried so far\n\n${memory}`,
      },
    ],
  });
  const proposals = (name: 'weak' | 'strong', memory: string) => {
    const model = new SimulatedModel(problem, name, hashed(`test ${name}`));
    return Array.from({ length: 300 }, () => model.reply(ask(memory)));
  };

  it('reply to a request alone: the strong one proposes more of what helps, and heeds what had failed', () => {
    const [first = ''] = problem.usefulWith(approach);
    const share = (replies: string[], names: Iterable<string>) =>
      replies.filter((reply) => [...names].some((name) => reply.includes(`adds ${name}\n`))).length /
      replies.length;
    const useful = problem.usefulWith(approach);
    expect(share(proposals('strong', ''), useful)).toBeGreaterThan(
      1.5 * share(proposals('weak', ''), useful),
    );
    const failed = `- [1, improve of 0] adds ${first}: −0.3 ± 0.1`;
    expect(share(proposals('strong', failed), [first])).toBeLessThan(
      share(proposals('strong', ''), [first]) / 2,
    );
    expect(share(proposals('weak', failed), [first])).toBeGreaterThan(
      3 * share(proposals('weak', ''), [first]),
    );
  });
});

describe('the benchmark of tree', () => {
  it.each(['tree', 'aide'])(
    'repeats a search of the profile %s exactly, within its limits',
    async (profile) => {
      const search = () =>
        simulatedSearch({ problem, model: 'noisy', options: { profile }, budget: 10, seed: 1 });
      const [one, other] = [await search(), await search()];
      expect(one.environment.taken).toEqual(other.environment.taken);
      expect(one.regret).toBe(other.regret);
      expect(one.tokens).toBeGreaterThan(0);
      expect(one.environment.late).toBe(0);
      expect(one.environment.finalAnswer).not.toBeNull();
      const { seconds_used = 0 } = one.environment.results.at(-1)?.budget ?? {};
      expect(seconds_used).toBeLessThanOrEqual(10 * wanted.seconds);
    },
  );

  it('gives finite numbers and its target in its short version', async () => {
    const context = {
      quick: true,
      scratch: '',
      cache: '',
      log: () => {},
      signal: new AbortController().signal,
    };
    const measurements = await tree.measure(context);
    expect(measurements.every(({ value }) => Number.isFinite(value))).toBe(true);
    expect(measurements.filter(({ atMost }) => atMost !== null)).toMatchObject([
      { unit: 'times', atMost: 0.8 },
    ]);
  });
});
