import { describe, expect, it } from 'vitest';
import { fakeEngine } from '../../test/fakes/container-engine.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createSandbox } from './create-sandbox.ts';
import { makePlace, run } from './test-support.ts';

describe('the driver docker', () => {
  it('ends a command whose container was removed by others while it was killed', async () => {
    using place = makePlace();
    const engine = fakeEngine(temporaryFolder());
    const spec = place.spec({ watch: { folder: place.workspace, maxBytes: 10_000 } });
    await using sandbox = await createSandbox('docker', spec, { dockerCommand: engine.command });
    place.file('workspace/large', 'x'.repeat(20_000));
    // The fake's containers see the host's paths.
    const end = await run(sandbox, 'exec sleep 30', { workingDirectory: '/' });
    expect(end).toMatchObject({ ending: 'workspace_full', exitCode: null, signal: 'SIGKILL' });
    expect(engine.containers()).toEqual([]);
  }, 8_000);
});
