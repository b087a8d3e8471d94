import { expect, test } from 'vitest';
import { downloadsIn } from './install-packages.ts';

test('downloads of uv and pip are reported with their size, however the lines are split, and never with an address', () => {
  const told: string[] = [];
  const read = downloadsIn((what) => told.push(what));
  const printed = [
    'Resolved 2 packages in 1.06s',
    'Downloading scipy (34.2MiB)',
    'Downloading scikit-learn (8.9MiB)',
    ' Downloaded scipy',
    '  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl (16.6 MB)',
    'Downloading https://user:secret@index.example/packages/uv-0.13.9-py3-none-manylinux_2_28_x86_64.whl (22.1 MB)',
    'Installing collected packages: numpy\n',
  ].join('\n');
  for (let start = 0; start < printed.length; start += 7) read(Buffer.from(printed.slice(start, start + 7)));
  expect(told).toEqual(['scipy (34.2MiB)', 'scikit-learn (8.9MiB)', 'numpy (16.6 MB)', 'uv (22.1 MB)']);
});
