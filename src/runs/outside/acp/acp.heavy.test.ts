import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTurns, startProviderServer, type Turn } from '../../../../test/fakes/providers/index.ts';
import { helpersFolder, TaskBench } from '../../../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../../../test/fixtures/needs-sandbox.ts';
import { smallAcpAgent } from '../../../../test/fixtures/outside/acp-place.ts';
import {
  notesIn,
  type ProgramOptions,
  printedBy,
  runAgentProgram,
  runCommand,
  turnsIn,
} from '../../../../test/fixtures/outside/outside-place.ts';
import type { Gate } from '../../../environment/index.ts';
import { gradeRun } from '../../../grading/index.ts';
import { checkRun, type RunFolder, readTraceSync } from '../../../store/index.ts';
import type { TaskResources } from '../../index.ts';

const bench = new TaskBench();
let resources: TaskResources;
let small: ReturnType<typeof smallAcpAgent>;

beforeAll(async () => {
  resources = await bench.provision();
  small = smallAcpAgent(join(bench.folder, 'small'));
});
afterAll(() => bench[Symbol.dispose]());

const improve = "sed -i 's/SECOND_WEIGHT = 0/SECOND_WEIGHT = 1/' train.py && python train.py";
const turns: Turn[] = [
  { run: 'ls data', text: 'I look around.' },
  { run: improve },
  { text: 'All numbers are added now.' },
];

const serve = (answers: Turn[]) => startProviderServer({ answer: inTurns({ turns: answers }) });

async function runSmall(server: ProgramOptions['server'], more: Partial<ProgramOptions> = {}) {
  const place = { experiments: bench.experiments, resources, server, ...more };
  return await runAgentProgram(small.agent, {}, small.bundle, place);
}

const finalScore = async (folder: RunFolder) => {
  const signal = new AbortController().signal;
  const grades = await gradeRun({ folder, ...resources, helpersFolder, which: 'final', signal });
  return grades.map(({ valid, score }) => [valid, score]);
};

describeInSandbox('an agent of the Agent Client Protocol', () => {
  test('completes its task, gets permissions, and its own statements are recorded with its steps', async () => {
    await using server = await serve(turns);
    const { record, folder } = await runSmall(server);
    expect(record, record.end?.message).toMatchObject({
      ...{ status: 'finished', end: { reason: 'final_answer' }, steps: 3 },
    });
    expect(turnsIn(folder).map(({ action }) => action)).toEqual(['bash', 'bash', 'Reply']);
    expect(await finalScore(folder)).toEqual([[true, 0]]);
    const notes = notesIn(folder);
    expect(notes).toContainEqual(['Claimed plan', 'in_progress: Do it']);
    expect(notes).toContainEqual(['Claimed thought', 'I look around.']);
    expect(notes).toContainEqual(['Claimed words', 'All numbers are added now.']);
    expect(notes).toContainEqual(['Permissions', `${improve}: allowed\n`]);
    expect(notes).toContainEqual([
      'Claimed tool calls',
      `${improve} (execute, pending)\n${improve} (completed)\n`,
    ]);
    expect(printedBy(folder).trim()).toBe('a session in /workspace');
    expect(readTraceSync(folder.tracePath).events.at(-1)).toMatchObject({
      claimed: { session: 'session-1', cost: 0.25, tokens: null, subagents: [] },
    });
    // There was no gate, so the run is like any other.
    expect(readTraceSync(folder.tracePath).events.some(({ kind }) => kind === 'action_decided')).toBe(false);
    expect(await checkRun(folder)).toEqual([]);
  });

  test('does what people allow, learns why the rest is denied, and the trace names these people', async () => {
    const asked: unknown[] = [];
    const gate: Gate = async (proposed) => {
      asked.push(proposed);
      return proposed.name === improve
        ? { kind: 'allow', actor: 'Ada' }
        : { kind: 'deny', actor: 'Ada', reason: 'Look into train.py.' };
    };
    await using server = await serve([{ run: 'rm -rf data' }, { text: 'Then I stop.' }]);
    const answer = inTurns({ turns: [{ run: 'rm -rf data' }, { run: improve }, { text: 'Done.' }] });
    await using patient = await startProviderServer({
      answer: (request) =>
        JSON.stringify(request.body).includes('Look into train.py.') ||
        !/"tool"/.test(JSON.stringify(request.body))
          ? answer(request)
          : { text: 'Then I stop.' },
    });
    const { record, folder } = await runSmall(patient, { gate });
    expect(record, record.end?.message).toMatchObject({
      status: 'finished',
      end: { reason: 'final_answer' },
    });
    expect(asked).toMatchObject([
      { name: 'rm -rf data', step: 1, isPermission: true, args: { input: { command: 'rm -rf data' } } },
      { name: improve, step: 3 },
    ]);
    const decided = readTraceSync(folder.tracePath).events.filter(({ kind }) => kind === 'action_decided');
    expect(decided).toMatchObject([
      { verdict: 'deny', actor: 'Ada', reason: 'Look into train.py.' },
      { verdict: 'allow', actor: 'Ada' },
    ]);
    expect(turnsIn(folder)[0]?.observation).toBe('You may not run this.');
    expect(await finalScore(folder)).toEqual([[true, 0]]);
    expect(server.requests).toEqual([]);
  });

  test('that stops without a submission is asked to continue, with the remaining time and turns', async () => {
    const answer = inTurns({ turns: [{ run: improve }, { text: 'Now it is done.' }] });
    await using server = await startProviderServer({
      answer: (request) =>
        JSON.stringify(request.body).includes('You have stopped')
          ? answer(request)
          : { text: 'Is that all?' },
    });
    const { record, folder } = await runSmall(server, { changes: { limits: { steps: 20 } } });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' }, steps: 3 });
    const again = notesIn(folder).flatMap(([name, text]) => (name === 'Asked again' ? [text] : []));
    expect(again).toEqual([
      expect.stringMatching(/would not accept[\s\S]*You have 19 turns and \d+ seconds left/),
    ]);
    expect(await finalScore(folder)).toEqual([[true, 0]]);
  });

  test('that never submits is asked a few times, and then ended', async () => {
    await using server = await serve([{ text: 'No.' }]);
    const { record } = await runSmall(server, { changes: { limits: { steps: 20 } } });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' }, steps: 5 });
  });

  test('is cancelled when its time is up, and can be stopped from outside', async () => {
    await using server = await serve([{ run: `${improve}; sleep 1000` }]);
    const { record, folder } = await runSmall(server, { changes: { limits: { wall_seconds: 6 } } });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'time_limit' }, steps: 1 });
    expect(await finalScore(folder)).toEqual([[true, 0]]);
    await using other = await serve([{ run: 'echo first' }, { run: 'sleep 1000' }]);
    const stopping = new AbortController();
    const running = runSmall(other, { signal: stopping.signal });
    while (other.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    stopping.abort();
    expect((await running).record).toMatchObject({ status: 'interrupted', steps: 1 });
  });
});

describeInSandbox('a hostile agent of the Agent Client Protocol', () => {
  const attack = join(bench.folder, 'attack.py');
  const handshake = `
import json, sys
def read():
    return json.loads(sys.stdin.readline())
def write(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n"); sys.stdout.flush()
def answer(result):
    write(id=read()["id"], result=result)
def ask(method, params):
    write(id="mine", method=method, params=params)
    while True:
        message = read()
        if message.get("id") == "mine":
            return message.get("error", message.get("result"))
answer({"protocolVersion": 1}); answer({"sessionId": "s"})
prompt = read()
def update(**fields):
    write(method="session/update", params={"sessionId": "s", "update": fields})
def done():
    write(id=prompt["id"], result={"stopReason": "end_turn"})
`;
  const run = async (code: string, changes: Record<string, unknown> = {}) => {
    writeFileSync(attack, code);
    await using server = await serve([]);
    const place = { experiments: bench.experiments, resources, server, changes, agent: 'acp' as const };
    return await runCommand({ ...place, command: `python ${attack}` });
  };

  test.for([
    ['a message that is not JSON', `${handshake}print('{"jsonrpc": "2.0", "id": ')`, /can't be read/],
    [
      'JSON without end',
      `${handshake}print('{"jsonrpc":"2.0","method":"x","params":' + '[' * 100000)`,
      /nested|can't be read/,
    ],
    ['a line of 20 MiB', `${handshake}print("x" * 20 * 2**20)`, /a line of more than/],
    [
      'messages without end',
      `${handshake}
while True: update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x" * 1000})`,
      /without (an answer of its model|waiting)/,
    ],
    [
      'no session',
      'input(); print("{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"result\\":{}}"); input(); print("{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{}}"); input()',
      /answer to session\/new is none/,
    ],
    ['nothing more, and ends', `${handshake}\nsys.exit(3)`, /exit code 3/],
  ] as const)('that writes %s has failed, and the run reports it', async ([, code, message]) => {
    const { record } = await run(code);
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'agent_error' } });
    expect(record.end?.message).toMatch(message);
  });

  test('gets no files, terminals or anything else of the host', async () => {
    const { folder, record } = await run(`${handshake}
found = [ask("fs/read_text_file", {"sessionId": "s", "path": "/etc/passwd"}),
         ask("fs/write_text_file", {"sessionId": "s", "path": "/etc/evil", "content": "x"}),
         ask("terminal/create", {"sessionId": "s", "command": "id"}),
         ask("elicitation/create", {"sessionId": "s", "message": "your key?"}),
         ask("session/request_permission", {"options": 3}),
         ask("_mlab/steal", {})]
sys.stderr.write("codes " + str([one.get("code") for one in found]))
update(sessionUpdate="tool_call", toolCallId={}, title=[1]); update(sessionUpdate="plan"); update(sessionUpdate="__proto__")
write(id=99, result={}); write(id=None, result={}); print("no message"); print("[1, 2]")
done()
`);
    expect(printedBy(folder)).toContain('codes [-32601, -32601, -32601, -32601, -32602, -32601]');
    expect(record.end?.reason).toBe('agent_stopped');
  });

  test('that never answers is ended when its time is up', async () => {
    const { record } = await run('import time; time.sleep(1000)', { limits: { wall_seconds: 3 } });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'time_limit' }, steps: 0 });
  });
});
