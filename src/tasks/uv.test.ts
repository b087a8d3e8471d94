import { expect, it } from 'vitest';
import { pipSettings, variablesFor } from './uv.ts';

it("uv gets the package sources of pip's configuration: variables, then install, then global", () => {
  const printed = [
    "global.index-url='https://global.example/simple'",
    "install.index-url='https://install.example/simple'",
    "global.extra-index-url='file:///a/simple\\nfile:///b/simple'",
    'global.find-links="/o\'neil"',
    ":env:.find-links='/wheels  /more'",
    "global.trusted-host='install.example'",
    "global.cert='/etc/certs.crt'",
    'WARNING: a line that is no setting',
    "freeze.timeout='10'",
    ":env:.no-index='1'",
  ].join('\n');
  expect(variablesFor(pipSettings(printed))).toEqual({
    UV_DEFAULT_INDEX: 'https://install.example/simple',
    UV_INDEX: 'file:///a/simple file:///b/simple',
    UV_FIND_LINKS: '/wheels,/more',
    UV_INSECURE_HOST: 'install.example',
    UV_NO_INDEX: '1',
    SSL_CERT_FILE: '/etc/certs.crt',
    UV_INDEX_STRATEGY: 'unsafe-best-match',
  });
  expect(variablesFor(pipSettings(''))).toEqual({ UV_INDEX_STRATEGY: 'unsafe-best-match' });
});
