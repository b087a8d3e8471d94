import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { startRawServer } from '../test/fakes/providers/index.ts';
import { exampleReplies } from '../test/fixtures/provider-replies.ts';
import { dialectPlaces, postTo, proxyPlace, proxyToken } from '../test/fixtures/proxy-place.ts';
import { type Benchmark, type Measurement, median, quantile } from './benchmark.ts';

const children = join(import.meta.dirname, 'children');
const Times = z.object({ firsts: z.array(z.number()), events: z.array(z.number()) });
type Times = z.infer<typeof Times>;

export const gateway: Benchmark = {
  name: 'gateway',
  summary:
    'what the model gateway adds to calls of programs: to the first byte, to each event, to 500 streams at once',
  async measure({ quick, log, signal }) {
    log('equal bytes');
    const equal = await equalBytes();
    log('streams');
    const server = await startServer(signal);
    await using place = await proxyPlace({
      model: 'openai-compatible/m',
      baseUrl: server.url,
      settings: { concurrent: 1000 },
      proxy: { connections: 1024 },
    });
    const ask = async (through: string, query: string, ...counts: number[]) => {
      const url = `${through}/chat/completions?${query}`;
      return await times(url, counts.map(String), signal);
    };
    const ways = [server.url, `${place.url}/v1`] as const;
    const single: Pair[] = [];
    const many: Pair[] = [];
    for (let round = 0; round < (quick ? 1 : 7); round += 1) {
      const one = ways.map((way) => ask.bind(null, way, 'events=20&every=5', 1, 0, quick ? 5 : 30));
      single.push(await inTurns(one));
    }
    const streams = quick ? 20 : 500;
    for (let round = 0; round < (quick ? 1 : 3); round += 1) {
      const all = ways.map((way) =>
        ask.bind(null, way, `events=${quick ? 3 : 15}&every=1000`, streams, 2, 1),
      );
      many.push(await inTurns(all));
    }
    server.end();
    return [...equal, ...singleStream(single), ...manyStreams(many, streams)];
  },
};

/** The times straight to the provider, and those through the gateway. */
type Pair = [direct: Times, through: Times];

async function inTurns([direct, through]: (() => Promise<Times>)[]): Promise<Pair> {
  if (direct === undefined || through === undefined) throw new Error('there are two ways');
  return [await direct(), await through()];
}

function singleStream(pairs: readonly Pair[]): Measurement[] {
  const all = (way: 0 | 1, which: keyof Times) => pairs.flatMap((pair) => pair[way][which]);
  const [direct, through] = [all(0, 'firsts'), all(1, 'firsts')];
  const [bare, passed] = [all(0, 'events'), all(1, 'events')];
  const tails = pairs.map(
    ([straight, through]) => quantile(through.events, 0.95) - quantile(straight.events, 0.95),
  );
  return [
    {
      ...{ what: 'added to the first byte', unit: 'ms', atMost: 3 },
      value: median(through) - median(direct),
      note: `medians of ${through.length}; straight to the provider: ${median(direct).toFixed(2)} ms; requests of 30 kB`,
    },
    {
      ...{ what: 'added to an event, 95th percentile', unit: 'ms', atMost: 1 },
      value: median(tails),
      note: `median of ${tails.length} rounds (${tails.map((value) => value.toFixed(2)).join(', ')}); median of an event: ${(median(passed) - median(bare)).toFixed(2)} ms`,
    },
  ];
}

function manyStreams(pairs: readonly Pair[], streams: number): Measurement[] {
  const added = pairs.map(
    ([direct, through]) => quantile(through.events, 0.99) - quantile(direct.events, 0.99),
  );
  const straight = pairs.map(([direct]) => quantile(direct.events, 0.99));
  return [
    {
      ...{ what: `added to an event of ${streams} streams at once, 99th percentile`, unit: 'ms', atMost: 20 },
      value: median(added),
      note: `median of ${added.length} (${added.map((value) => value.toFixed(1)).join(', ')}); straight: ${median(straight).toFixed(1)} ms; an event a second each`,
    },
  ];
}

/** Replies of all dialects, streamed and in one piece, through the gateway. */
async function equalBytes(): Promise<Measurement[]> {
  const share = { equal: 0, counted: 0, all: 0 };
  for (const { dialect, model, basePath, path, key, body } of dialectPlaces) {
    let reply = '';
    let type = '';
    await using server = await startRawServer(() => ({
      headers: { 'content-type': type },
      pieces: halves(reply),
    }));
    await using place = await proxyPlace({ model, baseUrl: server.url + basePath });
    for (const { text, isStreaming, usage } of exampleReplies(dialect)) {
      [reply, type] = [text, isStreaming ? 'text/event-stream' : 'application/json'];
      const sent = JSON.stringify(body(isStreaming), null, 1);
      const got = await postTo(place.url, path(isStreaming), sent, { key });
      const isEqual = (await got.text()) === text && server.requests.at(-1)?.body.toString() === sent;
      const { input, output, cached_input, source } = place.records.at(-1)?.usage ?? {};
      share.all += 1;
      if (isEqual) share.equal += 1;
      const isCounted =
        input === usage.input && output === usage.output && cached_input === usage.cachedInput;
      if (isCounted && source === 'provider') share.counted += 1;
    }
  }
  const common = { unit: 'exchanges', atMost: 0, note: `of ${share.all}, in four dialects` };
  return [
    { what: 'whose bytes are not the same on both sides', value: share.all - share.equal, ...common },
    { what: "whose usage is not the provider's", value: share.all - share.counted, ...common },
  ];
}

function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

async function startServer(signal: AbortSignal): Promise<{ url: string; end: () => void }> {
  const child = spawn(process.execPath, [join(children, 'stream-server.ts')], {
    signal,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = await once(createInterface(child.stdout), 'line');
  return { url: `http://127.0.0.1:${port}`, end: () => child.stdin.end() };
}

async function times(url: string, counts: readonly string[], signal: AbortSignal): Promise<Times> {
  const argv = [join(children, 'stream-client.ts'), url, proxyToken, ...counts];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { signal, maxBuffer: 2 ** 28 });
  return Times.parse(JSON.parse(stdout));
}
