import type { Agent } from 'mlagentbench/agent';
import { wholeNumberOption } from 'mlagentbench/agent';
import { printedAccuracy, withDoubled } from './scripts.ts';

/** Doubles a constant of the starter for as long as the printed accuracy grows. */
const doubling: Agent = {
  name: 'doubling-ts',
  summary: 'Doubles a constant of the starter for as long as the printed accuracy grows.',
  needs: { model: false, reference: false },
  options: {
    constant: { description: 'the constant that is doubled', default: 'EPOCHS' },
    rounds: { description: 'how often at most', default: 3 },
  },
  async run({ environment, options }) {
    const { entry } = environment.task;
    const constant = String(options.constant ?? 'EPOCHS');
    const step = (name: string, args: Record<string, string>) => environment.step({ name, args });
    let best = (await step('Read File', { file_name: entry })).observation;
    let result = await step('Execute Script', { script_name: entry });
    let accuracy = printedAccuracy(result.observation);
    for (let round = 0; round < wholeNumberOption(doubling, options, 'rounds', 0); round += 1) {
      const doubled = withDoubled(best, constant);
      if (doubled === null || result.ended) break;
      environment.note({ Idea: `I double ${constant}: ${accuracy} was the best so far.` });
      await step('Write File', { file_name: entry, content: doubled });
      result = await step('Execute Script', { script_name: entry });
      if (printedAccuracy(result.observation) <= accuracy) break;
      [best, accuracy] = [doubled, printedAccuracy(result.observation)];
    }
    await step('Write File', { file_name: entry, content: best });
    await step('Execute Script', { script_name: entry });
    await step('Final Answer', { final_answer: `${entry} with an accuracy of ${accuracy}.` });
  },
};

export default doubling;
