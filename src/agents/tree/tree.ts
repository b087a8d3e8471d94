import type { AgentOptions, Lesson } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { budgetText } from '../common/budget-text.ts';
import { choiceOption, wholeNumberOption } from '../common/options.ts';
import { seededRandom } from '../common/seeded-random.ts';
import type { BranchView } from '../search/branch-view.ts';
import { comparisons } from '../search/comparisons.ts';
import type { HoldOut } from '../search/held-out-rows.ts';
import { withoutStop } from '../search/own-stop.ts';
import { type Move, policies, policyNames } from '../search/policies.ts';
import { type Operate, type SearchSettings, TreeSearch, type Written } from '../search/run-search.ts';
import type { Attempt, Operator } from '../search/search-tree.ts';
import { instructions, request, type VersionText } from './prompts.ts';
import { writeVersion } from './write-version.ts';

const profiles = ['tree', 'aide'] as const;
const maxTuningTries = 12;

/**
 * A search over versions of the script with a language model's operators, see docs/agents/tree.md. `tuner` makes the
 * first version without a model, and tunes the numbers in good ones; `holdOut` withholds rows to measure versions on.
 */
export function treeAgent(tuner: Agent, holdOut: HoldOut): Agent {
  const agent: Agent = {
    name: 'tree',
    summary:
      'Searches over versions of the script that a language model drafts, improves, repairs and merges.',
    needs: { model: true, reference: false },
    usesExperience: true,
    options: {
      profile: {
        description:
          'tree: all of it; aide: draft, debug and improve by single replies, greedily, without memory, noise or portfolio',
        default: 'tree',
      },
      policy: {
        description: `what to try next: ${policyNames.join(', ')}`,
        default: 'greedy',
      },
      changes: {
        description: 'changes that an improvement makes at once at most; 1 for aide',
        default: 6,
      },
      max_attempts: { description: 'versions to try at most', default: 200 },
      patience: {
        description: 'attempts in a row without a new best version after which the search widens',
        default: 8,
      },
      turns: { description: 'replies of the model for one version at most; 1 for aide', default: 8 },
      at_once: { description: 'versions that are made at the same time', default: 1 },
      portfolio: {
        description: 'begin with what automl makes of the starter, and tune numbers with it; not for aide',
        default: true,
      },
      held_out: {
        description: 'whether a new best version must also be better on rows withheld from it; not for aide',
        default: true,
      },
      debug_role: { description: 'the model that repairs: agent or fast', default: 'agent' },
    },
    ready(options) {
      readSettings(agent, options, 0, holdOut);
    },
    async run({ environment, seed, options, experience = [] }) {
      const settings = readSettings(agent, options, seed, holdOut);
      const operate = operateWith(tuner, seed, settings, experience);
      const search = new TreeSearch(environment, settings.search, operate);
      const told = await search.run();
      if (search.isOver) return;
      await environment.step({ name: 'Final Answer', args: { final_answer: told } });
    },
  };
  return agent;
}

interface Settings {
  search: SearchSettings;
  isAide: boolean;
  turns: number;
  debugRole: 'agent' | 'fast';
}

function readSettings(agent: Agent, options: AgentOptions, seed: number, holdOut: HoldOut): Settings {
  const isAide = choiceOption(agent, options, 'profile', profiles) === 'aide';
  const portfolio = !isAide && options.portfolio !== false;
  const operators: Operator[] = ['draft', 'improve', 'debug'];
  if (!isAide) operators.push('merge');
  if (portfolio) operators.push('tune');
  return {
    isAide,
    turns: isAide ? 1 : wholeNumberOption(agent, options, 'turns', 1),
    debugRole: choiceOption(agent, options, 'debug_role', ['agent', 'fast']),
    search: {
      ...{ portfolio, measuresNoise: !isAide, operators: new Set(operators) },
      policy: policies[choiceOption(agent, options, 'policy', policyNames)],
      // AIDE's numbers: five drafts, three repairs in a row.
      drafts: isAide ? 5 : 2,
      maxRepairs: isAide ? 3 : 2,
      maxChanges: isAide ? 1 : wholeNumberOption(agent, options, 'changes', 1),
      patience: isAide ? Number.POSITIVE_INFINITY : wholeNumberOption(agent, options, 'patience', 1),
      maxAttempts: wholeNumberOption(agent, options, 'max_attempts', 1),
      atOnce: wholeNumberOption(agent, options, 'at_once', 1),
      holdOut: isAide || options.held_out === false ? null : holdOut,
      random: seededRandom(seed),
    },
  };
}

function operateWith(
  tuner: Agent,
  seed: number,
  { isAide, turns, debugRole }: Settings,
  experience: readonly Lesson[],
): Operate {
  return async (move, view, search) => {
    const { operator } = move;
    if (operator === 'portfolio') return await runTuner(tuner, view, seed, {});
    if (operator === 'tune') {
      const options = { models: false, rewrites: false, max_tries: maxTuningTries };
      return await runTuner(tuner, view, seed, options);
    }
    view.limitRuns(longestRun(view, move.parent));
    const role = operator === 'debug' ? debugRole : 'agent';
    const asked = tell(move, view, search, isAide);
    const system = instructions(view.task, !isAide, experience);
    return await writeVersion(view, system, asked, { turns, tools: !isAide, role }, operator);
  };
}

/** Part of the time is for a second measurement, unless only one run is left. */
function longestRun({ budget: { seconds_left: left } }: BranchView, { measured }: Attempt): number {
  return Math.max(20, 0.6 * left, Math.min(0.95 * left, 1.5 * (measured?.seconds ?? 0)));
}

/** Lets an agent without a model work on the branch, with the branch's part of the budget. */
async function runTuner(
  tuner: Agent,
  view: BranchView,
  seed: number,
  options: AgentOptions,
): Promise<Written> {
  const before = view.source;
  view.repeatRun();
  await tuner.run({ environment: view, seed, options, reference: null });
  view.takeSelected();
  if (view.source !== null && view.source === before)
    return { kind: 'nothing', why: `${tuner.name} found nothing better` };
  return { kind: 'written', change: `${tuner.name}: ${view.answer ?? 'stopped by the budget'}` };
}

function tell(
  { operator, parent, other, changes = 1 }: Move,
  view: BranchView,
  search: TreeSearch,
  isAide: boolean,
): string {
  const { tree, evaluator } = search;
  const { seconds_left: left } = view.budget;
  return request({
    operator,
    changes,
    version: versionOf(parent),
    other: other === undefined ? null : versionOf(other),
    memory: isAide ? '' : comparisons(tree, evaluator.noiseTest),
    limits: [
      `Left of the whole run: ${budgetText(search.budget)}.`,
      `For this version: ${budgetText(view.budget)}; its script is stopped after ${view.runLimit ?? Math.floor(left)} s.`,
      ...timeOf(parent),
    ].join('\n'),
  });
}

function timeOf({ measured }: Attempt): string[] {
  return measured === null ? [] : [`The version that you are given took ${measured.seconds.toFixed(1)} s.`];
}

function versionOf({ view, measured, output }: Attempt): VersionText {
  const source = measured?.source ?? view?.source ?? null;
  return { source: source === null ? null : withoutStop(source), line: measured?.line ?? null, output };
}
