import {
  type Agent,
  budgetText,
  type Environment,
  type ModelMessage,
  type ModelReply,
  type StepResult,
  taskText,
  wholeNumberOption,
} from 'mlagentbench/agent';

const instructions = `You improve a Python script. You are shown the task, the script, and what it printed.
Answer with one sentence on what you change, then with the whole new script in one block of \`\`\`python.
When no further improvement is likely, answer without a block: the last submission that the script wrote is graded.`;

/** Has a language model write one version of the starter script after another. */
export const rewriter: Agent = {
  name: 'rewriter',
  summary: 'Has a language model write one version of the starter script after another.',
  needs: { model: true, reference: false },
  options: { rounds: { description: 'versions that are written at most', default: 3 } },
  async run({ environment, options }) {
    const rounds = wholeNumberOption(rewriter, options, 'rounds', 1);
    const { entry } = environment.task;
    const read = await environment.step({ name: 'Read File', args: { file_name: entry } });
    let script = read.observation;
    let result = await execute(environment);
    for (let round = 0; round < rounds && !result.ended; round += 1) {
      const messages: ModelMessage[] = [
        { role: 'system', text: `${instructions}\n\n${taskText(environment.task)}`, stable: true },
        { role: 'user', text: standing(script, result) },
      ];
      const reply = await environment.ask({ role: 'agent', purpose: 'write a version', messages });
      if (reply.kind !== 'answered') return giveUp(environment, reply);
      const version = blockIn(reply);
      if (version === null) break;
      environment.note({ Idea: reply.text.slice(0, reply.text.indexOf('```')).trim() });
      await environment.step({ name: 'Write File', args: { file_name: entry, content: version } });
      script = version;
      result = await execute(environment);
    }
    if (result.ended) return;
    const answer = `${entry} as it is; it ended as "${result.status}".`;
    await environment.step({ name: 'Final Answer', args: { final_answer: answer } });
  },
};

function execute(environment: Environment): Promise<StepResult> {
  return environment.step({ name: 'Execute Script', args: { script_name: environment.task.entry } });
}

function standing(script: string, { observation, budget }: StepResult): string {
  const printed = observation.slice(-4000).toWellFormed();
  return `# The script\n${script}\n\n# What it printed\n${printed}\n\nRemaining budget: ${budgetText(budget)}.`;
}

/** A reply that was cut off ends in the middle of a script: that is none. */
function blockIn({ text, finish }: Extract<ModelReply, { kind: 'answered' }>): string | null {
  const block = /^```(?:python)?\n(.*?)^```/ms.exec(text)?.[1] ?? null;
  return finish === 'length' ? null : block;
}

/** After `closed` the run has ended by itself; the other two are the agent's own failures. */
function giveUp(environment: Environment, reply: Exclude<ModelReply, { kind: 'answered' }>): void {
  if (reply.kind === 'refused') environment.giveUp('refused', reply.message);
  if (reply.kind === 'context_too_long') environment.giveUp('context_limit', reply.message);
}

export default rewriter;
