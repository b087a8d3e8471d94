import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fixtureTasks, helpersFolder, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { agentOf, runOnce } from '../../test/fixtures/run-place.ts';
import { gradeRun } from '../grading/index.ts';
import { ModelRegistry, ModelUnavailable, Quota, ScriptedModels } from '../models/index.ts';
import { toolModelFor } from '../runs/index.ts';
import type { ModelRequest } from '../schema/index.ts';
import { readTraceSync, stepsOf } from '../store/index.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

const declared = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
const withService = `${declared}\nservices:\n  - { name: oracle, script: service.py }\n`;

/** Answers one line with the hidden labels' number of lines, never with a label. */
const service = `
import argparse, os, socket
parser = argparse.ArgumentParser()
for name in ("socket", "public", "private"):
    parser.add_argument("--" + name)
options = parser.parse_args()
listener = socket.socket(socket.AF_UNIX)
listener.bind(options.socket)
listener.listen()
while True:
    connection, _ = listener.accept()
    asked = connection.recv(100).decode()
    if asked == "stop":
        raise SystemExit("told to stop")
    lines = len(open(os.path.join(options.private, "labels.csv")).readlines())
    connection.sendall(f"{asked}: {lines} lines".encode())
    connection.close()
`;

const client = (word: string) => `
import os, socket
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["MLAB_SERVICES"] + "/oracle.sock")
connection.sendall(b"${word}")
print(connection.recv(100).decode())
while "${word}" == "stop":
    try:
        socket.socket(socket.AF_UNIX).connect(os.environ["MLAB_SERVICES"] + "/oracle.sock")
    except OSError:
        break
for path in ("/private", "/task", os.environ["MLAB_SERVICES"] + "/other.sock"):
    try:
        open(path, "a")
        print("opened", path)
    except OSError:
        print("no", path)
`;

function asks(word: string, observations: string[]) {
  return agentOf(async ({ environment }) => {
    const content = client(word);
    await environment.step({ name: 'Write File', args: { file_name: 'client.py', content } });
    const { observation } = await environment.step({
      name: 'Execute Script',
      args: { script_name: 'client.py' },
    });
    observations.push(observation);
  });
}

describeInSandbox('a local service', () => {
  test('is reached by its socket, and gives no access to its files', async () => {
    const tasks = bench.copyTask('served', { 'task.yaml': withService, 'hidden/service.py': service });
    const observations: string[] = [];
    const { record } = await runOnce(
      join(bench.experiments, 'served'),
      await bench.provision(tasks),
      asks('hello', observations),
    );
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'agent_stopped' } });
    expect(observations[0]).toMatch(/^hello: 11 lines\nno \/private\nno \/task\nno \/services\/other.sock\n/);
  });

  test('that ends during the run is started again, and the record of the run says so', async () => {
    const tasks = bench.copyTask('ending', { 'task.yaml': withService, 'hidden/service.py': service });
    const agent = agentOf(async ({ environment }) => {
      for (const word of ['stop', 'stop', 'hello']) {
        await environment.step({
          name: 'Write File',
          args: { file_name: 'client.py', content: `import time; time.sleep(2)\n${client(word)}` },
        });
        const { observation } = await environment.step({
          name: 'Execute Script',
          args: { script_name: 'client.py' },
        });
        if (word === 'hello') expect(observation).toMatch(/^hello: 11 lines/);
      }
    });
    const { record } = await runOnce(join(bench.experiments, 'ending'), await bench.provision(tasks), agent);
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'agent_stopped' } });
    expect(record.end?.message).toMatch(
      /During the run, the service oracle ended too early \(.*\)\. It printed: told to stop.* 2 times\.$/s,
    );
  });

  test('that exceeds its memory costs the run only its answer', async () => {
    const hungry = service.replace('asked == "stop"', 'asked == "hello" and (b"x" * 3 * 2**30)');
    const tasks = bench.copyTask('hungry', { 'task.yaml': withService, 'hidden/service.py': hungry });
    const agent = agentOf(async ({ environment }) => {
      const content = `${client('hello')}\nimport time; time.sleep(1)`;
      await environment.step({ name: 'Write File', args: { file_name: 'client.py', content } });
      await environment.step({ name: 'Execute Script', args: { script_name: 'client.py' } });
    });
    const { record } = await runOnce(join(bench.experiments, 'hungry'), await bench.provision(tasks), agent);
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'agent_stopped' } });
    expect(record.end?.message).toContain('the service oracle ended too early');
  });

  test('that does not start makes the run an infrastructure error, and its script must be there', async () => {
    const broken = 'raise SystemExit("no model found")';
    const tasks = bench.copyTask('broken', { 'task.yaml': withService, 'hidden/service.py': broken });
    const { record } = await runOnce(
      join(bench.experiments, 'broken'),
      await bench.provision(tasks),
      asks('hello', []),
    );
    expect(record.end?.message).toContain('no model found');
    const absent = bench.copyTask('absent', { 'task.yaml': withService });
    await expect(bench.provision(absent)).rejects.toThrow('hidden/service.py does not exist');
  });
});

/** A submission that asks both services and returns their answers; the score is their number. */
const [head = ''] = declared.split('  files:');
const toolTask = {
  'task.yaml': `${head}  files:
    - { format: python, path: train.py, defines: [reach] }
grading: { runs_submission: true, seconds: 60 }
services:
  - { name: oracle, script: service.py }
  - { name: model, kind: model, graded_tokens: 9000 }
`,
  'hidden/service.py': service,
  'hidden/grade.py': `import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.submission_workers import running_worker
from mlab_task.grading import Score, grade, read_arguments

arguments = read_arguments()


def score(submission):
    with running_worker(arguments.exchange, submission.name) as worker:
        answers, _ = worker.call_json("reach", {"word": "hello"}, seconds=20, most_bytes=10_000)
    return Score(float(len(answers)), details={"answers": answers})


grade(score, arguments)
`,
  'env/train.py': `import http.client
import json
import os
import socket


def connect(name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["MLAB_SERVICES"] + "/" + name + ".sock")
    return connection


def ask(text):
    connection = http.client.HTTPConnection("model")
    connection.sock = connect("model")
    body = json.dumps({"messages": [{"role": "user", "content": text}]})
    connection.request("POST", "/v1/chat/completions", body)
    response = connection.getresponse()
    answer = json.load(response)
    if response.status != 200:
        return f"{response.status} {answer['error']['code']}"
    return answer["choices"][0]["message"]["content"]


def reach(word):
    oracle = connect("oracle")
    oracle.sendall(word.encode())
    return [oracle.recv(100).decode(), ask(word)]


if __name__ == "__main__":
    print(reach("here"))
`,
  'hidden/solution/train.py': 'def reach(word):\n    return []\n',
};

function unavailable(message: string) {
  return { kind: 'unavailable' as const, error: new ModelUnavailable('overloaded', message, 'wait', []) };
}

const runsTool = agentOf(async ({ environment }) => {
  await environment.step({ name: 'Execute Script', args: { script_name: 'train.py' } });
});

describeInSandbox('services of submitted code', () => {
  test('are available in the run and, started again, in its grading; the model is metered in both', async () => {
    const resources = await bench.provision(bench.copyTask('tools', toolTask));
    const models = new ScriptedModels((_, index) => ({
      text: `answer ${index + 1}`,
      usage: { input: 10, output: 2 },
    }));
    const registry = new ModelRegistry({ variables: {}, folder: bench.folder });
    registry.forRun = () => models;
    const changes = { models: ['scripted/script'] };
    const agent = { ...runsTool, needs: { model: true, reference: false } };
    const shared = new Quota({ of: 'the experiment', tokens: 60_000 });
    const experiment = { registry, shared };
    const { record, folder } = await runOnce(join(bench.experiments, 'tools'), resources, agent, {
      changes,
      models: experiment,
    });
    expect(record).toMatchObject({ status: 'finished', spent: { calls: 1, tokens: 12 } });
    const { events } = readTraceSync(folder.tracePath);
    expect(JSON.stringify(stepsOf(events))).toContain("['here: 11 lines', 'answer 1']");
    expect(events.filter(({ kind }) => kind === 'model_call')).toMatchObject([
      { step: 1, role: 'fast', purpose: 'answer a tool', usage: { input: 10, output: 2 } },
    ]);
    // The call belongs to its step: it is recorded before the step ends.
    expect(events.map(({ kind }) => kind).lastIndexOf('model_call')).toBeLessThan(
      events.findIndex(({ kind }) => kind === 'step_finished'),
    );
    const [grade] = await gradeRun({
      ...{ folder, ...resources, helpersFolder, which: 'final' },
      toolModel: toolModelFor(record.spec, resources.task, experiment),
      signal: new AbortController().signal,
    });
    expect(grade).toMatchObject({
      valid: true,
      details: {
        answers: ['hello: 11 lines', 'answer 2'],
        tool_model: { calls: 1, tokens: 12, unpriced: 1 },
      },
    });
    expect(shared.spent.tokens).toBe(24);
  });

  test('say that there is no model if the run has none', async () => {
    const resources = await bench.provision(bench.copyTask('modelless', toolTask));
    const { folder } = await runOnce(join(bench.experiments, 'modelless'), resources, runsTool);
    const signal = new AbortController().signal;
    const [grade] = await gradeRun({ folder, ...resources, helpersFolder, which: 'final', signal });
    expect(grade).toMatchObject({
      valid: true,
      details: { answers: ['hello: 11 lines', '503 no_model'], tool_model: { calls: 0, tokens: 0 } },
    });
  });

  test("that submitted code ends make it invalid, with the service's output", async () => {
    const resources = await bench.provision(bench.copyTask('ended', toolTask));
    const content = toolTask['env/train.py'].replace('word.encode()', 'b"stop"');
    const ends = agentOf(async ({ environment }) => {
      await environment.step({ name: 'Write File', args: { file_name: 'train.py', content } });
    });
    const { folder } = await runOnce(join(bench.experiments, 'ended'), resources, ends);
    const signal = new AbortController().signal;
    const [grade] = await gradeRun({ folder, ...resources, helpersFolder, which: 'final', signal });
    expect(grade).toMatchObject({ valid: false, score: null, problems: [{ code: 'crashed' }] });
    expect(grade?.problems[0]?.message).toMatch(/the service oracle ended too early .*told to stop/);
  });

  test('whose language model does not answer leave the submission without a grade', async () => {
    const resources = await bench.provision(bench.copyTask('silent', toolTask));
    const { folder } = await runOnce(join(bench.experiments, 'silent'), resources, runsTool);
    const grading = gradeRun({
      ...{ folder, ...resources, helpersFolder, which: 'final' },
      toolModel: () => async () => unavailable('no money left'),
      signal: new AbortController().signal,
    });
    await expect(grading).rejects.toThrow('no money left');
    expect(folder.readGrades().grades).toEqual([]);
  });

  test("whose language model fails only on the submission's requests make it invalid", async () => {
    const resources = await bench.provision(bench.copyTask('poisoned', toolTask));
    const { folder } = await runOnce(join(bench.experiments, 'poisoned'), resources, runsTool);
    const content = toolTask['env/train.py'].replace('ask(word)', 'ask("poison")');
    expect(content).not.toBe(toolTask['env/train.py']);
    const poisons = agentOf(async ({ environment }) => {
      await environment.step({ name: 'Write File', args: { file_name: 'train.py', content } });
    });
    const other = await runOnce(join(bench.experiments, 'poisons'), resources, poisons);
    const answer = { kind: 'answered' as const, text: 'yes', tool_calls: [], finish: 'stop' as const };
    const usage = {
      input: 1,
      cached_input: 0,
      cache_write: 0,
      output: 1,
      reasoning: 0,
      source: 'provider' as const,
    };
    const toolModel = () => async (request: ModelRequest) =>
      JSON.stringify(request).includes('poison')
        ? unavailable('internal error')
        : { kind: 'answered' as const, answer, answeredBy: null, latencyMs: 1, usage, cost: 0 };
    const options = { ...resources, helpersFolder, which: 'final' as const, toolModel };
    const signal = new AbortController().signal;
    const [grade] = await gradeRun({ ...options, folder: other.folder, signal });
    expect(grade).toMatchObject({ valid: false, problems: [{ code: 'crashed' }] });
    expect(grade?.problems[0]?.message).toMatch(/answered a plain question.*internal error.*on its own/);
    expect((await gradeRun({ ...options, folder, signal }))[0]).toMatchObject({ valid: true });
  });

  test('that fail for the starter too leave the submission without a grade', async () => {
    const resources = await bench.provision(
      bench.copyTask('failing', {
        ...toolTask,
        'hidden/grade.py': toolTask['hidden/grade.py'].replace('"hello"', '"stop"'),
      }),
    );
    const { folder } = await runOnce(join(bench.experiments, 'failing'), resources, runsTool);
    const signal = new AbortController().signal;
    await expect(gradeRun({ folder, ...resources, helpersFolder, which: 'final', signal })).rejects.toThrow(
      /the service oracle ended too early \(.*\)\. It printed: told to stop/,
    );
    expect(folder.readGrades().grades).toEqual([]);
  });

  test('a model that does not answer stops the run, which can be resumed later', async () => {
    const resources = await bench.provision(bench.copyTask('unavailable', toolTask));
    const models = new ScriptedModels([{ fails: { failure: 'quota_exhausted', message: 'no money left' } }]);
    const registry = new ModelRegistry({ variables: {}, folder: bench.folder });
    registry.forRun = () => models;
    const agent = { ...runsTool, needs: { model: true, reference: false } };
    const { record } = await runOnce(join(bench.experiments, 'unavailable'), resources, agent, {
      changes: { models: ['scripted/script'] },
      models: { registry, shared: null },
    });
    expect(record).toMatchObject({ status: 'failed', end: { cause: 'quota_exhausted' } });
  });

  test('a call beyond the budget is refused and does not end the run', async () => {
    const resources = await bench.provision(bench.copyTask('spent', toolTask));
    const registry = new ModelRegistry({ variables: {}, folder: bench.folder });
    registry.forRun = () => new ScriptedModels([]);
    const agent = { ...runsTool, needs: { model: true, reference: false } };
    const { record, folder } = await runOnce(join(bench.experiments, 'spent'), resources, agent, {
      changes: { models: ['scripted/script'], limits: { tokens: 100 } },
      models: { registry, shared: null },
    });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'agent_stopped' } });
    expect(JSON.stringify(stepsOf(readTraceSync(folder.tracePath).events))).toContain('402 over_budget');
  });
});
