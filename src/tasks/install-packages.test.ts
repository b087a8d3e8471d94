import { expect, test } from 'vitest';
import { progressIn } from './install-packages.ts';

test('what uv and pip do is reported, downloads with their size, however the lines are split, and never with an address', () => {
  const told: string[] = [];
  const read = progressIn((what) => told.push(what));
  const printed = [
    'Resolved 2 packages in 1.06s',
    'Downloading scipy (34.2MiB)',
    'Downloading scikit-learn (8.9MiB)',
    ' Downloaded scipy',
    '  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl (16.6 MB)',
    'Downloading https://user:secret@index.example/packages/uv-0.13.9-py3-none-manylinux_2_28_x86_64.whl (22.1 MB)',
    'Installing collected packages: numpy',
    'Prepared 2 packages in 812ms\n',
  ].join('\n');
  for (let start = 0; start < printed.length; start += 7) read(Buffer.from(printed.slice(start, start + 7)));
  const downloads = ['scipy (34.2MiB)', 'scikit-learn (8.9MiB)', 'numpy (16.6 MB)', 'uv (22.1 MB)'];
  expect(told).toEqual([...downloads.map((each) => `downloading ${each}`), 'unpacking', 'unpacking']);
});
