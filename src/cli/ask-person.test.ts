import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Runs a command in a separate terminal, and types the answer from the environment when it is asked. */
const atTerminal = `
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b""
typed = False
while True:
    try:
        more = os.read(terminal, 65536)
    except OSError:
        break
    if not more:
        break
    shown += more
    if not typed and b"Your answer: " in shown:
        os.write(terminal, bytes.fromhex(os.environ["TYPED"]))
        typed = True
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

const asks = `
import { personAtTerminal } from ${JSON.stringify(join(import.meta.dirname, 'ask-person.ts'))};
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort(new Error('interrupted')));
const ask = personAtTerminal(true);
const told = ask('What \\u001b[31mnow?', interrupt.signal).then(JSON.stringify, (error) => error.message);
console.log('>' + (await told) + '<');
`;

async function typing(text: string): Promise<string> {
  const node = [process.execPath, '--input-type=module', '-e', asks];
  const child = spawn('python3', ['-c', atTerminal, ...node], {
    env: { ...process.env, TYPED: Buffer.from(text).toString('hex') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    shown += part;
  });
  await once(child, 'close');
  return shown;
}

describe.skipIf(spawnSync('python3', ['-c', 'import pty']).status !== 0)('a person at the terminal', () => {
  test.each([
    ['a line is the answer', 'Go on.\r', '>"Go on."<'],
    ['Ctrl-D is no answer', '\u0004', '>""<'],
    ['Ctrl-C interrupts whoever asks, and is no answer', '\u0003', '>interrupted<'],
  ])('%s', async (_, text, result) => {
    const shown = await typing(text);
    expect(shown).toContain(result);
    expect(shown).toContain('What now?');
  });
});
