import { agents } from '../../agents/index.ts';
import type { Verb } from '../verb.ts';

export const agentsLs: Verb = {
  onlyReads: true,
  arguments: [],
  flags: [],
  details: 'Options are given with --agent-option name=value, or in an experiment file.',
  examples: [['mlab agents', 'every agent with its options']],
  async run() {
    const shown = agents.map(({ name, summary, needs, options }) => {
      const need = needs.model ? ' Needs a language model (--model).' : '';
      const lines = Object.entries(options).map(
        ([option, { description, default: value }]) =>
          `    ${option} (${typeof value}, default ${JSON.stringify(value)}): ${description}`,
      );
      return [`${name}: ${summary}${need}`, ...lines].join('\n');
    });
    const json = agents.map(({ name, summary, needs, options }) => ({ name, summary, needs, options }));
    return { text: shown.join('\n\n'), json: { agents: json } };
  },
};
