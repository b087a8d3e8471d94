import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelCall, sessionStarted } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { ObjectId, RunId } from '../../schema/index.ts';
import { ObjectStore, RunFolder } from '../../store/index.ts';
import { extendTable } from '../trace/extend-table.ts';
import { readEvents } from '../trace/read-events.ts';
import { messagesOf } from './call-messages.ts';

test('a call that refers to earlier ones is shown whole, from a plain and from a compressed trace', async () => {
  const root = temporaryFolder();
  const run = new RunFolder(
    join(root, RunId.parse('digits-tools-0')),
    new ObjectStore(join(root, 'objects')),
  );
  using _lock = run.lock();
  {
    await using trace = run.openTrace();
    trace.append(sessionStarted(ObjectId.parse('0'.repeat(64))));
    const long = 'x'.repeat(1000);
    for (let call = 1; call <= 1200; call++) {
      const text = { text: `${call} ${long}` };
      // Each fourth leaves the first message out.
      const from = call % 4 === 0 ? 1 : 0;
      const count = call - 1 - Math.floor(call / 4);
      const earlier = count === 0 ? [] : [{ call: call - 1, from, count }];
      trace.append(modelCall(call, { messages: [...earlier, text] }));
    }
  }
  const shown = async () => {
    const { table } = await extendTable(run.tracePath, null);
    const last = table.calls.at(-1);
    if (last === undefined) throw new Error('the table has no calls');
    for await (const event of readEvents(run.tracePath, { from: last.offset, to: table.bytes }))
      if (event.kind === 'model_call') return await messagesOf(run.tracePath, table, event);
    throw new Error('there is no call');
  };
  const plain = await shown();
  expect(plain).toHaveLength(900);
  expect(plain.at(-1)).toMatchObject({ text: expect.stringMatching(/^1200 /) });
  await run.compressTrace();
  expect(await shown()).toEqual(plain);
});
