import { blocksOf, numbered } from '../../../src/environment/actions/blocks.ts';
import { nearMatch, placesOf } from '../../../src/environment/actions/near-match.ts';
import { omissionIn } from '../../../src/environment/actions/omission.ts';
import { codeOfReply, fenceFor } from '../../../src/environment/actions/reply-code.ts';
import { readings, segmentOf } from '../../../src/environment/actions/segment.ts';
import { linesOf } from '../../../src/environment/actions/text-file.ts';
import { unifiedDiff } from '../../../src/store/index.ts';
import { defineTarget } from '../engine/target.ts';
import { filesAsInput, filesIn, hold } from './containers.ts';

export const editTarget = defineTarget({
  name: 'edit-reply',
  reads: 'code in the reply of a language model, and the file that it edits',
  seeds: [
    filesAsInput({
      file: 'import os\n\ndef f(x):\n    return x\n',
      reply: 'Here:\n```python\nimport os\n```\nDone.',
    }),
    filesAsInput({ file: '  a\n  b\n', reply: '1. ~~~~\n   a\n   b\n   ~~~~\n[PYTHON]\nx=1\n[/PYTHON]' }),
    filesAsInput({ file: 'a\na\nb\n', reply: '# ... rest of the code unchanged\na\n' }),
  ],
  words: [
    '=== reply\n',
    '=== file\n',
    '```',
    '~~~',
    '````',
    '[PYTHON]',
    '[/PYTHON]',
    '\n```\n',
    '# ...',
    '\r\n',
    'import ',
  ],
  // A comparison of two texts stops after half a second, and there are two here.
  milliseconds: () => 3_000,
  open: () => ({
    run(input) {
      const parts = new Map(filesIn(input).map(({ path, content }) => [path, content.toString('utf8')]));
      const [file, reply] = [parts.get('file') ?? '', parts.get('reply') ?? ''];
      for (const python of [true, false]) {
        const code = codeOfReply(reply, { python });
        if (!code.ok) continue;
        omissionIn(file, code.code);
        unifiedDiff(file, code.code, { before: 'a', after: 'b' });
      }
      hold(!reply.includes(`\n${fenceFor(reply)}\n`), 'a text cannot end its own fence');
      nearMatch(file, reply);
      placesOf(file, reply.slice(0, 40) || 'a', 20);
      const { lines } = segmentOf(file, 1, 3);
      readings(lines, linesOf(reply));
      const blocks = blocksOf(file, 100);
      hold(blocks.map(({ text }) => text).join('') === file, 'the parts of a text are the text');
      for (const block of blocks.slice(0, 3)) numbered(block);
    },
  }),
});
