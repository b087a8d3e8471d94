import { UserError } from '../../lib/errors.ts';
import type { Agent } from '../agent.ts';

/** The client of a connection decides: a program, or a person with one. `TaskServer` runs it. */
export const mcp: Agent = {
  name: 'mcp',
  summary:
    'Not run by mlab run: mlab mcp serves the task to a client of the Model Context Protocol, which takes the steps.',
  needs: { model: false, reference: false },
  options: {},
  ledFromOutside: true,
  run: async () => {
    throw new UserError(
      'not_served',
      'The agent mcp is a client that connects to mlab.',
      'Start or resume the run with mlab mcp: mlab mcp --task digits --name NAME',
    );
  },
};
