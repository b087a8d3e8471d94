import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { wholeNumberOption } from '../common/options.ts';
import { readWholeFile } from '../common/read-whole-file.ts';
import { seededRandom } from '../common/seeded-random.ts';
import { Workspace } from '../common/workspace.ts';
import { answerWithBest, answerWithoutSearch, checkSubmission } from './finish.ts';
import { Study } from './study.ts';
import { TrialRunner } from './trial.ts';

/** Tunes the numbers in the starter script by the script's own validation metric; docs/agents/automl.md tells how. */
export const automl: Agent = {
  name: 'automl',
  summary: "Tunes the numbers in the starter script by the script's own validation metric.",
  needs: { model: false, reference: false },
  usesExperience: true,
  options: {
    max_tries: { description: 'changes to try at most', default: 100 },
    patience: { description: 'changes in a row that may fail to help before it stops', default: 15 },
  },
  ready(options) {
    readSettings(options);
  },
  async run({ environment, seed, options, experience }) {
    const { maxTries, patience } = readSettings(options);
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
    const study = new Study(workspace, runner, source, starter, isAccepted, seededRandom(seed), experience);
    let goesOn = await study.measureNoise();
    while (goesOn && study.tally.tried < maxTries && study.inVain < patience) goesOn = await study.tryNext();
    await answerWithBest(workspace, runner, study, source);
  },
};

function readSettings(options: AgentOptions): { maxTries: number; patience: number } {
  return {
    maxTries: wholeNumberOption(automl, options, 'max_tries', 0),
    patience: wholeNumberOption(automl, options, 'patience', 1),
  };
}
