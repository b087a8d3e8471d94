import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attack, held, worked } from '../attack.ts';
import type { Stage } from '../stage.ts';

const deep = `python3 -c "
import os
for _ in range(3000):
    os.mkdir('d' * 255)
    os.chdir('d' * 255)
"`;
const closed = `mkdir -p closed/inner && touch closed/inner/file && chmod 0 closed/inner closed`;
const bytes = `python3 -c "
import os
os.mkdir(b'\\xff')
open(b'\\xff/caf\\xe9', 'w').write('x')
"`;
const sparse = 'for n in 1 2 3 4 5 6 7 8; do truncate -s 2000M sparse-$n; done';
const odd = 'mkfifo fifo; ln -s /dev/zero zero; ln -s . loop; ln sparse-1 hard 2> /dev/null; true';

/** Whether a run continues after such a command, ends in time, and leaves nothing but its record. */
async function leaves(stage: Stage, command: string) {
  const start = performance.now();
  const { record, folder } = await stage.run([command, 'echo alive']);
  const seconds = Math.round((performance.now() - start) / 1000);
  if (record.status !== 'finished')
    return worked(`the run ended as ${record.status}: ${record.end?.message}`);
  if (existsSync(join(folder.folder, 'workspace'))) return worked('its workspace stays behind');
  if (seconds > 60) return worked(`the run took ${seconds} s`);
  return held('the run ends as usual, and its workspace is gone');
}

export default Object.entries({
  'leaves folders 3,000 deep for the end of the run': deep,
  'leaves folders closed to their owner': closed,
  'leaves names that are no text': bytes,
  'leaves sparse files of 16 GB to be read': sparse,
  'leaves FIFOs, devices by link and loops of links': odd,
}).map(([title, command]) =>
  attack({ title, long: true, seconds: 120, run: (stage) => leaves(stage, command) }),
);
