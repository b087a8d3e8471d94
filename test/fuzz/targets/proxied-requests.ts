import { z } from 'zod';
import { fakeKeys, type RawRequest } from '../../fakes/providers/index.ts';
import { dialectPlaces, proxyToken, rawProxyPlace } from '../../fixtures/proxy-place.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';
import { exchange, httpWords } from './requests.ts';

const keys = Object.values(fakeKeys);
const json = { headers: { 'content-type': 'application/json' }, pieces: ['{"choices":[]}'] };

function post(path: string, key: string, body: string): string {
  const token = key === 'authorization' ? `Bearer ${proxyToken}` : proxyToken;
  return `POST ${path} HTTP/1.1\r\nHost: a\r\n${key}: ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

export const proxiedRequestTarget = defineTarget({
  name: 'proxied-request',
  reads: 'requests of programs that the model gateway passes on',
  seeds: dialectPlaces.flatMap(({ path, key, body }) =>
    [false, true].map((isStreaming) => post(path(isStreaming), key, JSON.stringify(body(isStreaming)))),
  ),
  words: [
    ...httpWords,
    ...dialectPlaces.map(({ path }) => path(false)),
    ...[`Authorization: Bearer ${proxyToken}\r\n`, `x-api-key: ${proxyToken}\r\n`, '"model":"gpt-4o"'],
    ...[
      '"stream":true',
      '"max_tokens":',
      '"n":',
      '"tools":',
      '"service_tier":',
      '/../',
      '%2e%2e%2f',
      '?key=',
    ],
  ],
  batch: 8,
  milliseconds: () => 3_000,
  async open() {
    const place = await rawProxyPlace(() => json);
    const { proxy, server, told, records } = place;
    return {
      async run(input) {
        const answer = await exchange({ port: proxy.port ?? 0, host: '127.0.0.1' }, input);
        hold(!/^HTTP\/1\.1 500/.test(answer), 'no request is a fault of ours');
        hold(!keys.some((key) => answer.includes(key)), 'nobody is told a key');
        for (const request of server.requests.splice(0)) holdPassedOn(request);
        told.length = 0;
        records.length = 0;
      },
      async close() {
        await place[Symbol.asyncDispose]();
      },
    };
  },
});

/** The request to the provider must use one API, with the key of the harness and nothing of the token. */
function holdPassedOn({ url, headers, body }: RawRequest): void {
  hold(
    /^\/v1\/(chat\/completions|responses|responses\/compact)(\?|$)/.test(url),
    `nothing else is reached: ${url}`,
  );
  hold(headers.authorization === `Bearer ${fakeKeys.OPENAI_API_KEY}`, 'the key is ours');
  const { model } = z.object({ model: z.string() }).parse(JSON.parse(body.toString()));
  hold(model === 'gpt-4o', `no other model is asked: ${model}`);
}
