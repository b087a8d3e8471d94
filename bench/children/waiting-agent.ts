import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from '../../src/agents/index.ts';

/** Only waits, as a run does whose work is done elsewhere: hundreds of its runs fit on one machine. */
const waitingAgent: Agent = {
  name: 'waiting',
  summary: 'Waits, then ends.',
  needs: { model: false, reference: false },
  options: { seconds: { description: 'how long it waits', default: 2 } },
  async run({ environment, options }) {
    await sleep(1000 * Number(options.seconds ?? 2));
    await environment.step({ name: 'Final Answer', args: { final_answer: 'waited' } });
  },
};

export default waitingAgent;
