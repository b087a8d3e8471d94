import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launcher } from './fixtures/mlab-process.ts';
import { OwnAgentPlace } from './fixtures/own-agent-place.ts';

let place: OwnAgentPlace;

beforeAll(() => {
  place = new OwnAgentPlace();
});
afterAll(() => place[Symbol.dispose]());

/** The official client, as programs use it. */
const newClient = () => new Client({ name: 'test', version: '1' });

/** A client that has started mlab mcp as its server. */
async function connectByStreams(name: string) {
  const client = newClient();
  const { folder, variables } = place.surroundings;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [launcher, 'mcp', '--task', 'sums', '--name', name, ...place.places],
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...variables },
    cwd: folder,
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-10_000);
  });
  await client.connect(transport);
  return { client, said: () => said, pid: transport.pid };
}

async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
  return { text: texts.join('\n'), isError: isError === true };
}

/** Writes a script that adds both numbers, runs it and submits. */
async function solve(client: Client) {
  const { text: script } = await call(client, 'Read_File', { file_name: 'train.py' });
  const better = script.replace('EPOCHS = 1', 'EPOCHS = 4').replace(/\n\[Step [^\n]*$/, '');
  await call(client, 'Write_File', { file_name: 'train.py', content: better });
  await call(client, 'Execute_Script', { script_name: 'train.py' });
  return await call(client, 'Final_Answer', { final_answer: 'done' });
}

const solved = ['Read File ok', 'Write File ok', 'Execute Script ok', 'Final Answer ok'];

/** The last answer comes when the run is graded. */
function scoreOf(name: string): number | null | undefined {
  return place.runFolder(name).readGrades().grades[0]?.score;
}

test('a client on standard input and output works on a task; each call is a step, and the end is graded', async () => {
  const { client, said } = await connectByStreams('streams');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Read_Task', 'Execute_Script', 'Final_Answer']),
  );
  expect((await call(client, 'Read_Task')).text).toContain('Write their sums');
  const wrong = await call(client, 'Read_File', { name: 'train.py' });
  expect(wrong.isError).toBe(true);
  const unknown = await call(client, 'Dance');
  expect(unknown.isError).toBe(true);
  const last = await solve(client);
  expect(last.text).toContain('The run is over');
  expect(last.text).not.toContain('score');
  await client.close();
  expect(scoreOf('streams'), said()).toBe(0);
  expect(place.steps('streams')).toEqual(['Read File invalid', 'Dance invalid', ...solved]);
  expect(place.runFolder('streams').readRecord()?.status).toBe('finished');
});

test('a run whose client left, or that was killed, is resumed by its name', async () => {
  const first = await connectByStreams('resumed');
  await call(first.client, 'Write_File', { file_name: 'notes.txt', content: 'first' });
  await first.client.close();
  const second = await connectByStreams('resumed');
  expect((await call(second.client, 'Read_File', { file_name: 'notes.txt' })).text).toContain('first');
  if (second.pid !== null) process.kill(second.pid, 'SIGKILL');
  await second.client.close();
  const third = await connectByStreams('resumed');
  await solve(third.client);
  await third.client.close();
  expect(scoreOf('resumed'), third.said()).toBe(0);
  expect(place.steps('resumed')).toEqual(['Write File ok', 'Read File ok', ...solved]);
  const replayed = await place.mlab('runs', 'replay', 'resumed');
  expect(replayed.err).toContain("can't be replayed");
});

test('clients by streamable HTTP work on one run, at a secret address', async () => {
  const started = place.start('mcp', '--task', 'sums', '--name', 'http', '--http', '0');
  const address = () => /Serving MCP at (\S+)/.exec(started.said())?.[1];
  while (address() === undefined && started.process.exitCode === null) await sleep(20);
  const url = new URL(address() ?? 'http://none');
  expect((await fetch(new URL('/mcp', url), { method: 'POST' })).status).toBe(404);
  const foreign = await fetch(url, { method: 'POST', headers: { Origin: 'http://example.com' }, body: '{}' });
  expect(foreign.status).toBe(403);
  const [one, two] = [newClient(), newClient()];
  await one.connect(new StreamableHTTPClientTransport(url));
  await call(one, 'Write_File', { file_name: 'notes.txt', content: 'of one' });
  await one.close();
  await two.connect(new StreamableHTTPClientTransport(url));
  expect((await call(two, 'Read_File', { file_name: 'notes.txt' })).text).toContain('of one');
  await solve(two);
  await two.close();
  const { code, out, err } = await started.ended;
  expect(code, err).toBe(0);
  expect(out).toContain('finished and graded');
  expect(scoreOf('http')).toBe(0);
});

test('mlab run says how to start a run of an MCP client', async () => {
  const { code, err } = await place.run('mcp', 'wrong');
  expect(code).toBe(2);
  expect(err).toContain('mlab mcp --task');
});
