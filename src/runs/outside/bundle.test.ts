import { expect, test } from 'vitest';
import { ensureBundle } from './bundle.ts';

const options = { cache: '/dev/null/nowhere', onProgress: () => {}, signal: new AbortController().signal };

test.each(['npm', 'pypi'] as const)(
  'a package of %s needs a version, not an address, a file, a package or an option',
  async (registry) => {
    for (const version of [
      ...['https://evil.example/x.tgz', 'git+ssh://evil.example/x', 'file:/home/me', 'npm:evil@1'],
      ...['1.0\n--index-url=http://evil.example', '1.0 --pre', '1.0;x', '../x', ''],
    ])
      await expect(ensureBundle({ registry, name: 'fine', version: '1' }, version, options)).rejects.toThrow(
        'is not a version of fine',
      );
  },
);
