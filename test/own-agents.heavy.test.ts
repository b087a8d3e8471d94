import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OwnAgentPlace } from './fixtures/own-agent-place.ts';

let place: OwnAgentPlace;

beforeAll(() => {
  place = new OwnAgentPlace();
});
afterAll(() => place[Symbol.dispose]());

const doing = ['Read File', 'Execute Script'];
const wholeRun = [
  ...doing,
  ...['Write File', 'Execute Script', 'Write File', 'Execute Script', 'Write File', 'Execute Script'],
  ...['Write File', 'Execute Script', 'Final Answer'],
].map((action) => `${action} ok`);

describe.each([
  { language: 'TypeScript', file: './doubling.ts', helper: 'scripts.ts', agent: 'doubling-ts' },
  { language: 'Python', file: './doubling.py', helper: 'scripts.py', agent: 'doubling-py' },
])('an agent in $language that is in a file', ({ file, helper, agent }) => {
  test('runs, is graded, and is shown under its name', async () => {
    const { code, out, err } = await place.run(file, `${agent}-whole`);
    expect(code, err + out).toBe(0);
    expect(out).toMatch(new RegExp(`sums +${agent} +1 of 1`));
    expect(place.steps(`${agent}-whole`)).toEqual(wholeRun);
    const replayed = await place.mlab('runs', 'replay', `${agent}-whole`);
    expect(replayed.out).toContain(`✓ sums-${agent}-0: 11 steps`);
  });

  test('resumes by replay after it was killed, with every step taken once', async () => {
    const name = `${agent}-killed`;
    const first = place.start('run', '--task', 'sums', '--agent', file, '--name', name);
    const hasSteps = () => {
      try {
        return place.steps(name).length >= 4;
      } catch {
        return false;
      }
    };
    while (!hasSteps() && first.process.exitCode === null) await sleep(10);
    first.process.kill('SIGKILL');
    await first.ended;
    const taken = place.steps(name).length;
    expect(taken).toBeLessThan(wholeRun.length);
    const { code, err } = await place.run(file, name);
    expect(code, err).toBe(0);
    expect(err).toContain('resumed');
    expect(place.steps(name)).toEqual(wholeRun);
  });

  test('is refused if a file that it imports has changed', async () => {
    const before = place.read(helper);
    place.write(helper, `${before}\n`);
    try {
      const { code, err } = await place.run(file, `${agent}-whole`);
      expect(code).toBe(2);
      expect(err).toContain('the source of the agent has changed');
      const replayed = await place.mlab('runs', 'replay', `${agent}-whole`);
      expect(replayed.err).toContain(`The agent ${agent} has changed`);
    } finally {
      place.write(helper, before);
    }
  });

  test('is the same agent if a file that it does not import has changed', async () => {
    place.write(helper.replace('scripts', 'other'), '');
    const { code, err } = await place.run(file, `${agent}-whole`);
    expect(code, err).toBe(0);
  });
});

test('an agent is loaded from an npm package, whose name, version and integrity are frozen', async () => {
  const code = `import { text } from './text.js';
    export default { name: 'packed', summary: 'Hands in.', needs: { model: false, reference: false }, options: {},
      run: ({ environment }) => environment.step({ name: 'Final Answer', args: { final_answer: text } }) };`;
  place.write('node_modules/my-agents/index.js', code);
  place.write('node_modules/my-agents/text.js', "export const text = 'done';");
  const manifest = { name: 'my-agents', version: '1.4.0', type: 'module', exports: { import: './index.js' } };
  place.write('node_modules/my-agents/package.json', JSON.stringify(manifest));
  const packages = { 'node_modules/my-agents': { version: '1.4.0', integrity: 'sha512-abc' } };
  place.write('node_modules/.package-lock.json', JSON.stringify({ packages }));
  const { code: exitCode, err } = await place.run('my-agents', 'packed');
  expect(exitCode, err).toBe(0);
  const [run] = place.experiment('packed').plan.runs;
  expect(run?.agent).toBe('packed');
  expect(run?.agent_source?.package).toBe('my-agents@1.4.0 sha512-abc');
});

test('an agent in Python sees neither files of this machine, nor a network, nor the workspace', async () => {
  place.write('secret.txt', 'secret');
  place.write(
    'nosy.py',
    `import os, socket
from mlagentbench_agent import agent

def can(work):
    try:
        work()
        return True
    except OSError:
        return False

@agent(name="nosy", summary="Looks around.")
def run(environment):
    folder = os.path.dirname(os.path.abspath(__file__))
    seen = [
        can(lambda: open(${JSON.stringify(place.folder)} + "/secret.txt")),
        can(lambda: open("/etc/shadow")),
        can(lambda: os.listdir("/workspace")),
        can(lambda: os.listdir("${place.tasks}")),
        can(lambda: open(folder + "/nosy.py", "a")),
        can(lambda: socket.create_connection(("1.1.1.1", 53), 1)),
    ]
    environment.note({"Seen": f"{seen} {os.listdir(folder)}"})
    environment.step("Final Answer", final_answer="done")
`,
  );
  await place.run('./nosy.py', 'nosy');
  const shown = await place.mlab('runs', 'trace', 'nosy');
  expect(shown.out).toContain("[False, False, False, False, False, False] ['nosy.py']");
});

const broken = [
  { title: 'is not there', file: 'nothing.py', text: null, said: 'There is no file' },
  { title: 'can not be parsed', file: 'wrong.py', text: 'def x(:', said: 'SyntaxError' },
  { title: 'defines no agent', file: 'none.py', text: 'x = 1', said: 'marked with @agent' },
  {
    title: 'ends at once',
    file: 'ends.py',
    text: 'import os; print("bye"); os._exit(3)',
    said: 'exit code 3',
  },
  {
    title: 'has a name that no run can have',
    file: 'named.py',
    text: "from mlagentbench_agent import agent\n@agent(name='My Agent', summary='x')\ndef run(e): pass",
    said: 'name "My Agent": only lower-case letters, digits and -',
  },
  {
    title: 'has the name of an agent of mlab',
    file: 'same.py',
    text: "from mlagentbench_agent import agent\n@agent(name='automl', summary='x')\ndef run(e): pass",
    said: 'a built-in agent has, too',
  },
  {
    title: 'imports a package',
    file: 'packaged.py',
    text: 'import no_such_package',
    said: "No module named 'no_such_package' (packaged.py, line 1)\nAn agent in Python sees only the standard library",
  },
  {
    title: 'reads a file beside it',
    file: 'reads.py',
    text: 'from pathlib import Path\nprompt = (Path(__file__).parent / "prompt.txt").read_text()',
    said: 'sees only .py files of its own folder: put texts into a .py file',
  },
  {
    title: 'reads a file by its name alone',
    file: 'relative.py',
    text: 'open("prompt.txt")',
    said: 'sees only .py files of its own folder: put texts into a .py file',
  },
  {
    title: 'is a class',
    file: 'class.py',
    text: "from mlagentbench_agent import agent\n@agent(name='a', summary='x')\nclass Run: pass",
    said: 'File "class.py", line 2',
  },
  {
    title: 'is a coroutine, which nobody would await',
    file: 'coroutine.py',
    text: "from mlagentbench_agent import agent\n@agent(name='a', summary='x')\nasync def run(e): pass",
    said: 'write def, not async def',
  },
  {
    title: 'writes what is no message',
    file: 'noise.py',
    text: `import os; os.write(1, b'{"jsonrpc": "2.0", "id"')\nos.write(1, b'\\n')`,
    said: "a message that can't be read",
  },
];

test.each(broken)(
  'an agent in Python that $title is refused before anything is planned',
  async ({ file, text, said }) => {
    if (text !== null) place.write(file, text);
    const { code, err } = await place.run(`./${file}`, 'broken');
    expect(err).toContain(said);
    expect(code).toBe(2);
    expect(() => place.experiment('broken')).toThrow();
  },
);

test('an agent in Python calls models, forks, acts on several branches, and selects one', async () => {
  place.write('model.jsonl', `${JSON.stringify({ text: '3' })}\n${JSON.stringify({ text: '4' })}\n`);
  place.write(
    'branching.py',
    `from mlagentbench_agent import RequestRefused, agent

@agent(name="branching", summary="Tries two numbers.", needs_model=True)
def run(environment):
    numbers = [environment.ask([{"role": "user", "text": f"number {n}"}]).text for n in (1, 2)]
    try:
        environment.fork(at=7)
    except RequestRefused as error:
        environment.note({"Refused": str(error)})
    branches = [environment.fork() for _ in numbers]
    for branch, number in zip(branches, numbers):
        script = environment.step("Read File", file_name="train.py").observation
        branch.step("Write File", file_name="train.py", content=script.replace("EPOCHS = 1", f"EPOCHS = {number}"))
    results = environment.step_all([(branch, "Execute Script", {"script_name": "train.py"}) for branch in branches])
    best = max(range(2), key=lambda i: results[i].observation)
    environment.select(branches[best])
    environment.step("Final Answer", final_answer=f"branch {branches[best].id}")
`,
  );
  const { code, out, err } = await place.run(
    './branching.py',
    'branching',
    '--model',
    'scripted/model.jsonl',
  );
  expect(code, err).toBe(0);
  expect(out).toMatch(/branching.*1 of 1/);
  const trace = (await place.mlab('runs', 'trace', 'branching')).out;
  expect(trace).toContain('no step 7');
  expect(trace).toMatch(/"branch_selected",.*"branch":"b3"/);
  const run = `branching/${place.runFolder('branching').id}`;
  const other = await place.mlab('runs', 'show', run, '--branch', 'b2');
  expect(other.out, other.err).toMatch(/branch b2,.*\(shown below\)\n[\s\S]*branch b3,.*\(selected\)/);
  const unknown = await place.mlab('runs', 'show', run, '--branch', 'b9');
  expect(unknown.err).toContain('The run has no branch "b9"');
  const replayed = await place.mlab('runs', 'replay', 'branching');
  expect(replayed.out).toContain('2 model calls');
  expect(replayed.code, replayed.out).toBe(0);
});

test('an agent that crashes in the middle of its run ends as its own failure, with its output', async () => {
  place.write(
    'crash.py',
    `from mlagentbench_agent import agent

@agent(name="crash", summary="Fails.")
def run(environment):
    print("I try it")
    environment.step("List Files", dir_path=".")
    raise ValueError("no idea what to do")
`,
  );
  await place.run('./crash.py', 'crash');
  const end = place.runFolder('crash').readRecord()?.end;
  expect(end?.reason).toBe('agent_error');
  expect(end?.message).toMatch(
    /^ValueError: no idea what to do \(crash\.py, line 7\)\n +File "crash\.py", line 7, in run.*I try it/s,
  );
  expect(end?.message).not.toContain('^');
});

test('an agent in Python in an endless loop leaves what it printed, and where it was', async () => {
  place.write(
    'loop.py',
    `from mlagentbench_agent import agent

@agent(name="loop", summary="Never ends.")
def run(environment):
    print("I begin")
    while True:
        pass
`,
  );
  const { err } = await place.run('./loop.py', 'loop', '--wall-seconds', '8');
  const shown = await place.mlab('runs', 'show', `loop/${place.runFolder('loop').id}`);
  expect(shown.out, err).toMatch(/The time limit ended it.*I begin.*loop\.py", line [67] in run/s);
});

test.each([
  {
    language: 'Python',
    file: 'asks.py',
    text: `from mlagentbench_agent import agent

@agent(name="asks", summary="Asks.")
def run(environment):
    environment.ask([{"role": "user", "text": "Hello"}])
`,
    said: /^ModelNotDeclared: The agent calls environment\.ask.*set needs_model=True in @agent.*asks\.py, line 5/s,
  },
  {
    language: 'TypeScript',
    file: 'asks.ts',
    text: `export default { name: 'asks', summary: 'Asks.', needs: { model: false, reference: false }, options: {},
      run: ({ environment }) => environment.ask({ role: 'agent', purpose: 'p', messages: [{ role: 'user', text: 'x' }] }) };`,
    said: /The agent calls environment\.ask.*set needs: { model: true/,
  },
])(
  'an agent in $language that asks for a model without declaring it fails by its own fault',
  async (agent) => {
    place.write(agent.file, agent.text);
    const name = `asks-${agent.language.toLowerCase()}`;
    await place.run(`./${agent.file}`, name);
    const end = place.runFolder(name).readRecord()?.end;
    expect(end?.reason).toBe('agent_error');
    expect(end?.message).toMatch(agent.said);
  },
);

test('two sources of an agent are two rows of a report, by their versions or hashes', async () => {
  const source = (version: string, answer: string) => `from mlagentbench_agent import agent

@agent(name="versioned", summary="Hands in.", version="${version}")
def run(environment):
    environment.step("Final Answer", final_answer="${answer}")
`;
  place.write('versioned.py', source('1.2.0', 'one'));
  expect((await place.run('./versioned.py', 'versioned-1')).code).toBe(0);
  place.write('versioned.py', source('1.3.0', 'two'));
  expect((await place.run('./versioned.py', 'versioned-2')).code).toBe(0);
  const { out } = await place.mlab('report', 'versioned-1', 'versioned-2');
  expect(out).toContain('versioned@1.2.0');
  expect(out).toContain('versioned@1.3.0');
});

test("mlab agents loads users' own agents, and describes them or says what is wrong", async () => {
  const { out, code } = await place.mlab('agents', './doubling.py', 'automl', '--json');
  expect(code, out).toBe(0);
  expect(JSON.parse(out).agents).toMatchObject([
    { name: 'doubling-py', needs: { model: false }, options: { rounds: { default: 3 } } },
    { name: 'automl' },
  ]);
  place.write('none.py', 'x = 1');
  const wrong = await place.mlab('agents', './none.py');
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('exactly one function must be marked with @agent(…), found: none');
});
