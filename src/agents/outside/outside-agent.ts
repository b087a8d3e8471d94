import type { Agent } from '../agent.ts';
import type { Program } from './program.ts';

export interface OutsideAgent extends Agent {
  program: Program;
}

/** Makes an agent of a program: it is not run here but started in the run's sandbox. */
export function outsideAgent(
  name: string,
  summary: string,
  program: Program,
  options: Agent['options'] = {},
): OutsideAgent {
  const version = program.package?.version;
  return {
    name,
    summary,
    needs: { model: true, reference: false },
    options: {
      ...(version === undefined
        ? {}
        : { version: { description: 'version of its package', default: version } }),
      ...options,
    },
    program,
    run: async () => {
      throw new Error(`${name} is a program, which is started in the sandbox of a run`);
    },
  };
}

/** Where the dialects of providers begin, behind the gateway's origin. */
export function baseUrls(gateway: string) {
  return { openai: `${gateway}/v1`, anthropic: gateway, google: gateway };
}

/** Programs with tools ask for titles and summaries without any. */
export function asksWithoutTools({ tools }: { tools?: readonly unknown[] | undefined }): boolean {
  return tools === undefined || tools.length === 0;
}
