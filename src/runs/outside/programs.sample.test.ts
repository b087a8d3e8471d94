import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTurns, startProviderServer, type Turn } from '../../../test/fakes/providers/index.ts';
import { helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import {
  printedBy,
  registryOf,
  runCommand,
  secretKey,
  smallAgent,
  turnsIn,
} from '../../../test/fixtures/outside/outside-place.ts';
import { workThrough } from '../../../test/fixtures/run-place.ts';
import { gradeRun } from '../../grading/index.ts';
import { ModelUnavailable, Quota } from '../../models/index.ts';
import { trySandbox } from '../../sandbox/index.ts';
import { archivedAttempts, checkRun, type RunFolder, readTraceSync } from '../../store/index.ts';
import type { TaskResources } from '../index.ts';
import { endUnanswered } from './unanswered.ts';

const bench = new TaskBench();
let resources: TaskResources;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

const improve = "sed -i 's/SECOND_WEIGHT = 0/SECOND_WEIGHT = 1/' train.py && python train.py";
const turns: Turn[] = [
  { run: 'mlab-check; ls data', text: 'I look around.' },
  { run: improve },
  { run: 'mlab-check' },
  { text: 'All numbers are added now.' },
];

/** Sends more requests at once than may be under way, and computes meanwhile. */
const manyRequests = `
import json, os, time, threading, urllib.request
def ask():
    body = json.dumps({"max_tokens": 1, "messages": [{"role": "user", "content": "Hello?"}]}).encode()
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers))
for _ in range(12): threading.Thread(target=ask, daemon=True).start()
end = time.time() + 10
while time.time() < end: pass
os._exit(0)`;

/** Closes a request that waits for the tokens that another one has reserved, and computes after that one's answer. */
const leaving = `
import http.client, json, os, time
def send():
    address = os.environ["OPENAI_BASE_URL"].split("/")[2]
    body = json.dumps({"max_tokens": 15000, "messages": [{"role": "user", "content": "Hello?"}]})
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    connection = http.client.HTTPConnection(address)
    connection.request("POST", "/v1/chat/completions", body, headers)
    return connection
first = send()
time.sleep(0.3)
second = send()
time.sleep(0.3)
second.close()
assert first.getresponse().status == 200
end = time.time() + 8
while time.time() < end: pass`;

const answersTo = (answers: Turn[]) => inTurns({ turns: answers, texts: ['A title'] });
const serve = (answers: Turn[], latencyMs = 0) =>
  startProviderServer({ answer: answersTo(answers), latencyMs });

const gradesOf = (folder: RunFolder, which: 'final' | 'all') =>
  gradeRun({ folder, ...resources, helpersFolder, which, signal: new AbortController().signal });

describeInSandbox('a program as an agent', () => {
  test('has its turns recorded as steps, each with a snapshot that can be graded', async () => {
    await using server = await serve(turns);
    const { record, folder } = await runCommand({ experiments: bench.experiments, resources, server });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' }, steps: 4 });
    expect(record.spec.agent_version).toMatch(/^sha256:/);
    const [first, second, third, last] = turnsIn(folder);
    expect(first?.observation).toContain('The grader would not accept this submission:\n- ');
    expect(first?.observation).toContain('test.csv');
    expect(second).toMatchObject({ action: 'bash', args: { command: improve } });
    expect(third?.observation).toBe('The grader would accept this submission.\n');
    expect(last).toMatchObject({ action: 'Reply', args: { text: 'All numbers are added now.' } });
    const grades = await gradesOf(folder, 'all');
    expect(grades.map(({ step, valid, score }) => [step, valid, score])).toContainEqual([2, true, 0]);
    // The request for a title is a call of the run, but not a turn.
    expect(record.spent).toMatchObject({ calls: 5 });
    expect(await checkRun(folder)).toEqual([]);
  });

  test('takes a turn with every request to its model, by whatever name it asks, if there is no small model', async () => {
    await using server = await serve(turns);
    const { record } = await runCommand({
      ...{ experiments: bench.experiments, resources, server, changes: { roles: {} } },
    });
    expect(record).toMatchObject({ status: 'finished', steps: 5, spent: { calls: 5 } });
  });

  test('needs no model, and is refused one that it was not given', async () => {
    await using server = await serve(turns);
    const without = { experiments: bench.experiments, resources, server, changes: { models: [] } };
    const { record, folder } = await runCommand({ ...without, command: improve });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' }, steps: 0 });
    expect(record.spec.model).toBeNull();
    expect(await gradesOf(folder, 'final')).toMatchObject([{ valid: true, score: 0, final: true }]);
    const asking = await runCommand(without);
    expect(asking.record.end).toMatchObject({
      reason: 'agent_error',
      message: expect.stringContaining('HTTP Error 404'),
    });
    expect(server.requests).toEqual([]);
  });

  test.for(['none', 'docker'] as const)('does the same in the sandbox %s', async (sandbox, { skip }) => {
    const dockerCommand = process.env.MLAB_DOCKER ?? 'podman';
    await trySandbox(sandbox, { dockerCommand }).catch(({ message }: Error) => skip(message));
    await using server = await serve(turns);
    const { record, folder } = await runCommand({
      ...{ experiments: bench.experiments, resources, server, changes: { sandbox } },
      dockerCommand,
    });
    expect(record, record.end?.message).toMatchObject({ end: { reason: 'final_answer' }, steps: 4 });
    expect(turnsIn(folder)[2]?.observation).toBe('The grader would accept this submission.\n');
  });

  test('never sees the key of its provider, which is in no trace', async () => {
    await using server = await serve([
      {
        run: `env; cat /proc/*/environ; grep -r ${secretKey} /workspace /mlab-agent /mlab-task /tmp /etc 2>/dev/null`,
      },
    ]);
    const { folder } = await runCommand({ experiments: bench.experiments, resources, server });
    expect(server.requests.every(({ key }) => key === secretKey)).toBe(true);
    // Text that it typed itself is still there.
    expect(turnsIn(folder)[0]?.observation.replaceAll(`grep -r ${secretKey} `, '')).not.toContain(secretKey);
    expect(turnsIn(folder)[0]?.observation).toContain('OPENAI_API_KEY=');
  });

  test('is ended at its last step, and graded in the state of that step', async () => {
    await using server = await serve([{ run: improve }, { run: 'sleep 1000' }]);
    const { record, folder } = await runCommand({
      ...{ experiments: bench.experiments, resources, server },
      changes: { limits: { steps: 1 } },
    });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'step_limit' }, steps: 1 });
    expect(await gradesOf(folder, 'final')).toMatchObject([{ valid: true, score: 0 }]);
  });

  test('is ended when its time is up, and keeps what it did until then', async () => {
    await using server = await serve([{ run: `${improve}; sleep 1000` }]);
    const { record, folder } = await runCommand({
      ...{ experiments: bench.experiments, resources, server },
      changes: { limits: { wall_seconds: 4 } },
    });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'time_limit' }, steps: 1 });
    expect(await gradesOf(folder, 'final')).toMatchObject([{ valid: true, score: 0 }]);
  });

  test('cannot stop the clock by a queue of its own requests', async () => {
    await using server = await serve([{ text: 'Late.' }], 20_000);
    const { record } = await runCommand({
      ...{ experiments: bench.experiments, resources, server, changes: { limits: { wall_seconds: 4 } } },
      command: `python -c '${manyRequests}'`,
    });
    expect(record.end?.reason).toBe('time_limit');
  });

  test('is not charged for time in which it waits for its model, if only active time counts', async () => {
    await using server = await serve(turns, 1500);
    const run = { experiments: bench.experiments, resources, server };
    const changes = { limits: { wall_seconds: 5 } };
    const wall = await runCommand({ ...run, changes });
    const active = await runCommand({ ...run, changes: { ...changes, clock: 'active' } });
    expect(wall.record.end?.reason).toBe('time_limit');
    expect(active.record.end?.reason).toBe('final_answer');
    const end = readTraceSync(active.folder.tracePath).events.at(-1);
    if (end?.kind !== 'run_ended') throw new Error('the run has no end');
    expect(end.seconds_used).toBeLessThan(5);
    expect(end.model_seconds).toBeGreaterThan(7);
  });

  test('cannot stop the active clock by leaving while its request waits', async () => {
    await using server = await serve([{ text: 'Done.' }], 1000);
    const { record } = await runCommand({
      ...{ experiments: bench.experiments, resources, server },
      changes: { limits: { wall_seconds: 2, tokens: 20_000 }, clock: 'active' },
      command: `python -c '${leaving}'`,
    });
    expect(record.end?.reason).toBe('time_limit');
  });

  test('is ended by its limits on tokens and money, and stopped by those of the experiment', async () => {
    await using server = await serve(turns);
    const run = { experiments: bench.experiments, resources, server };
    const few = await runCommand({ ...run, changes: { limits: { tokens: 200 } } });
    expect(few.record).toMatchObject({ status: 'finished', end: { reason: 'token_limit' } });
    const cheap = await runCommand({ ...run, changes: { limits: { money: 0.000001 } } });
    expect(cheap.record).toMatchObject({ status: 'finished', end: { reason: 'money_limit' } });
    const shared = await runCommand({ ...run, shared: new Quota({ of: 'the experiment', tokens: 200 }) });
    expect(shared.record).toMatchObject({ status: 'failed', end: { cause: 'experiment_limit' } });
  });

  test('sees the whole folder that its option files names', async () => {
    const folder = join(bench.experiments, 'multi');
    mkdirSync(join(folder, 'prompts'), { recursive: true });
    writeFileSync(join(folder, 'main.py'), 'import helper');
    writeFileSync(
      join(folder, 'helper.py'),
      "import pathlib, sys\nprint(pathlib.Path(__file__).with_name('prompts').joinpath('a.txt').read_text())\nsys.exit(3)",
    );
    writeFileSync(join(folder, 'prompts/a.txt'), 'a prompt of several files');
    await using server = await serve(turns);
    const run = { experiments: bench.experiments, resources, server, command: 'python multi/main.py' };
    const { record } = await runCommand({ ...run, files: folder });
    expect(record.end?.message).toContain('a prompt of several files');
    const without = await runCommand({ ...run, command: `python ${folder}/main.py` });
    expect(without.record.end?.message).toMatch(/its option `files` names.*No module named 'helper'/s);
  });

  test('cannot be shown a folder that contains hidden files of its task', async () => {
    await using server = await serve(turns);
    const run = { experiments: bench.experiments, resources, server };
    for (const files of [resources.task.folder, join(resources.task.folder, 'hidden')]) {
      const { record } = await runCommand({ ...run, files });
      expect(record).toMatchObject({ status: 'failed', steps: 0 });
      expect(record.end?.message).toContain('Agents must not see hidden files of their task.');
    }
  });

  test('that loops endlessly leaves its last output', async () => {
    await using server = await serve(turns);
    const { record, folder } = await runCommand({
      ...{ experiments: bench.experiments, resources, server, changes: { limits: { wall_seconds: 4 } } },
      command: 'python -c "print(chr(42) * 9);exec(\'while True: pass\')"',
    });
    expect(record).toMatchObject({ end: { reason: 'time_limit' }, steps: 0 });
    expect(printedBy(folder)).toContain('*********');
  });

  test('that fails is distinguished from a provider that fails', async () => {
    await using server = await serve(turns);
    const run = { experiments: bench.experiments, resources, server };
    const own = await runCommand({ ...run, command: 'echo "out of ideas"; exit 3' });
    expect(own.record).toMatchObject({ status: 'finished', end: { reason: 'agent_error' } });
    expect(own.record.end?.message).toContain('exit code 3. It printed last:\nout of ideas');
    await using broken = await startProviderServer({
      faults: () => ({ kind: 'status', status: 401, message: 'no such key' }),
    });
    const theirs = await runCommand({ ...run, server: broken });
    expect(theirs.record).toMatchObject({ status: 'failed', end: { cause: 'unauthorised' } });
  });

  test('whose last request is not answered twice, while its model answers others, is judged as it is', async () => {
    const overloaded = { kind: 'status', status: 529, message: 'overloaded' } as const;
    const faults = (number: number) => (number === 3 ? overloaded : null);
    await using first = await startProviderServer({ answer: answersTo([{ run: improve }]), faults });
    const { record, folder, experiment } = await runCommand({
      ...{ experiments: bench.experiments, resources, server: first },
    });
    expect(record).toMatchObject({ status: 'failed', end: { reason: 'infrastructure_error' } });
    const again = async (plan: typeof faults) => {
      await using server = await startProviderServer({ answer: answersTo([{ run: improve }]), faults: plan });
      const registry = registryOf(server, bench.experiments);
      return (await workThrough(experiment, resources, 'restart', { registry }))[0];
    };
    // Nobody gets an answer, so it is always the provider's failure.
    expect(await again((number) => (number >= 3 ? overloaded : null))).toMatchObject({
      record: { status: 'failed', end: { cause: 'overloaded' } },
    });
    const judged = await again(faults);
    expect(judged).toMatchObject({ problem: null, record: { status: 'finished', steps: 1 } });
    expect(judged?.record?.end).toMatchObject({
      reason: 'agent_error',
      message: expect.stringContaining('the model answers a plain question'),
    });
    // The title, one turn and the plain question.
    expect(judged?.record?.spent).toMatchObject({ calls: 3 });
    expect(await gradesOf(folder, 'final')).toMatchObject([{ valid: true, score: 0 }]);
  });

  test('whose limits leave no room for a plain question is ended by that limit if its last request was not answered before', async () => {
    const overloaded = { kind: 'status', status: 529, message: 'overloaded' } as const;
    await using server = await startProviderServer({ answer: answersTo([]), faults: () => overloaded });
    const { record, folder, experiment } = await runCommand({
      ...{ experiments: bench.experiments, resources, server },
    });
    const registry = registryOf(server, bench.experiments);
    await workThrough(experiment, resources, 'restart', { registry });
    const { roles } = record.spec;
    if (roles === undefined) throw new Error('the run has no models');
    const end = (limits: { tokens?: number; money?: number }) =>
      endUnanswered(new ModelUnavailable('overloaded', 'overloaded', '', []), {
        ...{ folder, signal: new AbortController().signal, called: () => {} },
        gateway: registry.gateway(roles, { quota: new Quota({ of: 'this run', ...limits }), shared: null }),
      });
    expect(await end({ tokens: 1 })).toMatchObject({ reason: 'token_limit' });
    expect(await end({ money: 0 })).toMatchObject({ reason: 'money_limit' });
    await expect(end({})).rejects.toThrow('overloaded');
  });

  test.each(['', ' session'])(
    'that was killed before its run had a trace begins, and has no attempt before%s',
    async (session) => {
      await using server = await serve(turns);
      const { record, folder, experiment } = await runCommand({
        ...{ experiments: bench.experiments, resources, server, command: `python ${smallAgent}${session}` },
      });
      folder.removeTrace();
      const { trace: _, ...begun } = record;
      folder.writeRecordSync({ ...begun, status: 'running', end: null });
      await using other = await serve(turns);
      const registry = registryOf(other, bench.experiments);
      const [again] = await workThrough(experiment, resources, 'continue', { registry });
      expect(again).toMatchObject({ problem: null, record: { status: 'finished', steps: 4 } });
      expect(archivedAttempts(folder)).toEqual([]);
    },
  );

  test('is stopped from outside, and starts over as a new attempt, which is charged in addition to the first', async () => {
    await using server = await serve([{ run: 'echo first' }, { run: 'sleep 1000' }]);
    const stopping = new AbortController();
    const running = runCommand({
      ...{ experiments: bench.experiments, resources, server },
      signal: stopping.signal,
    });
    while (server.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    stopping.abort();
    const { record, folder, experiment } = await running;
    expect(record).toMatchObject({ status: 'interrupted', steps: 1 });
    await using other = await serve(turns);
    const registry = registryOf(other, bench.experiments);
    const [again] = await workThrough(experiment, resources, 'continue', { registry });
    expect(again).toMatchObject({ problem: null, record: { status: 'finished', steps: 4 } });
    expect(turnsIn(folder).map(({ action }) => action)).toEqual(['bash', 'bash', 'bash', 'Reply']);
    const attempts = archivedAttempts(folder);
    expect(attempts.map((attempt) => attempt.readRecord()?.steps)).toEqual([1]);
  });
});

describeInSandbox('a hostile program', () => {
  const attack = join(bench.folder, 'attack.py');
  const run = async (code: string) => {
    writeFileSync(attack, code);
    await using server = await serve([]);
    const options = { experiments: bench.experiments, resources, server, command: `python ${attack}` };
    return { ...(await runCommand(options)), server };
  };

  test('reaches only the gateway: no other port, name, address or socket', async () => {
    await using host = await startProviderServer();
    const { record, folder } = await run(`
import os, socket, stat
def tries(name, work):
    try:
        work(); print("REACHED", name)
    except OSError as error:
        print("refused", name, error.errno)
for place in [("127.0.0.1", ${new URL(host.url).port}), ("169.254.169.254", 80), ("10.0.0.1", 443), ("1.1.1.1", 53), ("::1", 22)]:
    tries(place, lambda: socket.create_connection(place, 2))
tries("dns", lambda: socket.getaddrinfo("example.org", 80))
for path in ["/run/docker.sock", "/var/run/docker.sock", "/run/systemd/private", "/tmp/.X11-unix/X0"]:
    tries(path, lambda: socket.socket(socket.AF_UNIX).connect(path))
tries("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0/tmp/dbus"))
found = []
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if folder != "/" or name not in ("proc", "sys", "usr")]
    found += [path for path in (os.path.join(folder, name) for name in files) if stat.S_ISSOCK(os.lstat(path).st_mode)]
print("sockets", sorted(found))
print("listens", [line.split()[1] for line in open("/proc/net/tcp") if " 0A " in line])
`);
    const printed = printedBy(folder);
    expect(printed).not.toContain('REACHED');
    expect(printed).toContain('refused dns');
    expect(printed).toContain("sockets ['/mlab-agent/run/models.sock', '/mlab-agent/run/session.sock']");
    // 4080 in hexadecimal.
    expect(printed).toContain("listens ['0100007F:0FF0']");
    expect(record.end?.reason).toBe('agent_stopped');
  });

  test('cannot save a session that could harm the harness', async () => {
    const { record, folder } = await run(`
import json, os, socket, threading, urllib.request
kept = os.environ["MLAB_SESSION"]
os.makedirs(kept)
os.mkfifo(f"{kept}/pipe")
os.symlink("/dev/zero", f"{kept}/endless")
os.symlink(kept, f"{kept}/circle")
open(f"{kept}/broken.db", "w").write("no database")
def flood():
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect("/mlab-agent/run/session.sock")
                connection.sendall(b"99\\n" + b"x" * 2**20)
        except OSError:
            pass
threading.Thread(target=flood, daemon=True).start()
for number in range(3):
    results = [{"role": "tool", "tool_call_id": f"call_{number}", "content": "done"}] if number else []
    body = {"model": os.environ["MLAB_MODEL"], "messages": [{"role": "user", "content": "go"}, *results]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    print(len(urllib.request.urlopen(request).read()) > 0)
`);
    expect(printedBy(folder)).toBe('True\nTrue\nTrue\n');
    expect(record).toMatchObject({ status: 'finished', steps: 3, end: { reason: 'final_answer' } });
    expect(existsSync(join(folder.folder, 'agent-session'))).toBe(false);
  });

  test('sees no files of other runs, and cannot use their tokens', async () => {
    const first = await run(`
import os
open("/workspace/token.txt", "w").write(os.environ["OPENAI_API_KEY"])
print("token", os.environ["OPENAI_API_KEY"])
`);
    const [, token = ''] = /token ([0-9a-f]{48})/.exec(printedBy(first.folder)) ?? [];
    expect(token).toHaveLength(48);
    const second = await run(`
import json, os, urllib.request, urllib.error
def ask(key):
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}).encode(),
        {"authorization": "Bearer " + key, "content-type": "application/json"})
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code
print("theirs", ask("${token}"), "none", ask(""), "own", ask(os.environ["OPENAI_API_KEY"]))
print("seen", [os.path.exists(path) for path in ["${first.folder.folder}", "${bench.cache}/data", "${homedir()}/.ssh", "${helpersFolder}/../tasks"]])
try:
    open("${smallAgent}"); print("REACHED")
except OSError:
    pass
`);
    const printed = printedBy(second.folder);
    expect(printed).toContain('theirs 401 none 401 own 200');
    expect(printed).toContain('seen [False, False, False, False]');
    expect(printed).not.toContain('REACHED');
  });
});
