import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { choiceOption, wholeNumberOption } from '../common/options.ts';
import { readWholeFile } from '../common/read-whole-file.ts';
import { seededRandom } from '../common/seeded-random.ts';
import { Workspace } from '../common/workspace.ts';
import { answerWithBest, answerWithoutSearch, checkSubmission } from './finish.ts';
import { selectFinalist } from './selection.ts';
import { strategyNames } from './strategies.ts';
import { type SearchSettings, Study } from './study.ts';
import { TrialRunner } from './trial.ts';

/** Tunes the numbers in the starter script by the script's own validation metric; docs/agents/automl.md tells how. */
export const automl: Agent = {
  name: 'automl',
  summary: "Tunes the numbers in the starter script by the script's own validation metric.",
  needs: { model: false, reference: false },
  usesExperience: true,
  options: {
    max_tries: { description: 'changes to try at most', default: 100 },
    patience: {
      description:
        'changes in a row that may fail to help before it stops; the two controls never stop for that',
      default: 15,
    },
    search: {
      description:
        'climb: one number at a time; two controls: random (all numbers at once), seeds (luck alone)',
      default: 'climb',
    },
    select: {
      description: 'measure the best versions again on fresh seeds before one is submitted',
      default: true,
    },
  },
  ready(options) {
    readSettings(options);
  },
  async run({ environment, seed, options, experience }) {
    const { maxTries, patience, ...settings } = readSettings(options);
    const workspace = new Workspace(environment);
    const { entry } = workspace.task;

    // With very few steps, each is needed for the run itself.
    if (workspace.budget.steps_left >= 6) await workspace.listFiles('.');
    const file = await readWholeFile(workspace, entry);
    // A script that cannot be read can still be run.
    const source = 'text' in file ? file.text : '';
    const runner = new TrialRunner(workspace, source);
    const starter = await runner.run(source);
    if ('problem' in file) return await answerWithoutSearch(workspace, starter, file.problem);
    if (starter.kind === 'failed') return await answerWithoutSearch(workspace, starter, starter.why);

    const isAccepted = !(await checkSubmission(workspace)).isRefused;
    const random = seededRandom(seed);
    const study = new Study(workspace, runner, source, starter, isAccepted, random, {
      ...settings,
      experience,
    });
    let goesOn = await study.prepare();
    while (goesOn && study.tally.tried < maxTries && study.inVain < patience) goesOn = await study.tryNext();
    const selection = await selectFinalist(workspace, runner, study);
    await answerWithBest(workspace, runner, study, source, selection);
  },
};

interface Settings extends SearchSettings {
  maxTries: number;
  patience: number;
}

function readSettings(options: AgentOptions): Settings {
  const search = choiceOption(automl, options, 'search', strategyNames);
  const patience = wholeNumberOption(automl, options, 'patience', 1);
  return {
    maxTries: wholeNumberOption(automl, options, 'max_tries', 0),
    // To stop early would be a handicap: a control may use all the time that it is given.
    patience: search === 'climb' ? patience : Number.POSITIVE_INFINITY,
    search,
    select: options.select !== false,
  };
}
