import { join } from 'node:path';
import { inTurns, startProviderServer } from '../../fakes/providers/index.ts';
import { printedBy, runCommand } from '../../fixtures/outside/outside-place.ts';
import { proxyPlace, proxyToken } from '../../fixtures/proxy-place.ts';
import { type PythonFields, pythonAttacks } from '../python-attacks.ts';
import { dockerCommand } from '../stage.ts';

/** Runs the attacks as a program that is the agent of a run, with its models behind a gateway. */
const asProgram: Pick<PythonFields, 'around' | 'start'> = {
  around: async (_stage, attacks) => {
    await using server = await startProviderServer();
    await using other = await proxyPlace({ model: 'openai/gpt-4o', baseUrl: server.baseUrls.openai });
    return await attacks({ port: other.proxy.port, token: proxyToken, seconds: 60 });
  },
  start: async (stage, files) => {
    await using server = await startProviderServer({ answer: inTurns({ turns: [], texts: ['Yes.'] }) });
    const { folder } = await runCommand({
      ...{ experiments: join(stage.folder, 'experiments'), resources: await stage.task(), server },
      ...{ command: `python3 -B ${files.join(' ')}`, dockerCommand },
      changes: { sandbox: stage.row.driver },
    });
    return printedBy(folder);
  },
};

export default [
  ...pythonAttacks(join(import.meta.dirname, 'gateway.py'), {
    ...asProgram,
    seconds: 120,
    unconfined: ['connects to the gateway of another run'],
  }),
  ...pythonAttacks(join(import.meta.dirname, 'gateway-floods.py'), {
    ...asProgram,
    seconds: 300,
    long: true,
  }),
];
