import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './fixtures/temporary-folder.ts';

const script = join(import.meta.dirname, '../scripts/parse-replies.ts');

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

function call(model: string, completion: string, role = 'agent'): string {
  return JSON.stringify({ role, model, completion, prompt: 'not looked at' });
}

const good = 'Thought: x\nAction: List Files\nAction Input: {"dir_path": "."}';

describe('scripts/parse-replies.ts', () => {
  it('counts the replies of agents by model, in plain and in packed files', () => {
    const folder = temporaryFolder();
    const [plain, packed] = [join(folder, 'calls.jsonl'), join(folder, 'calls.jsonl.gz')];
    writeFileSync(
      plain,
      `${[call('one', good), call('one', 'hm'), call('one', 'hm', 'summary')].join('\n')}\n`,
    );
    writeFileSync(packed, gzipSync([call('one', ''), call('two', good)].join('\n')));
    const { status, stdout } = run(plain, packed);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      one: { replies: 3, parsed: 1, by_reason: { no_action: 1, empty: 1 } },
      two: { replies: 1, parsed: 1, by_reason: {} },
    });
  });

  it('shows the replies that were not parsed', () => {
    const file = join(temporaryFolder(), 'calls.jsonl');
    writeFileSync(file, [call('one', good), call('one', 'I do not know.')].join('\n'));
    const { status, stdout } = run('--failures', file);
    expect(status).toBe(0);
    expect(stdout).toContain(`=== ${file}, line 2 (one): no_action`);
    expect(stdout).toContain('I do not know.');
    expect(stdout).not.toContain('List Files');
  });

  it('says what is wrong with a file, and fails', () => {
    const folder = temporaryFolder();
    const written = (name: string, content: string | Buffer) => {
      const file = join(folder, name);
      writeFileSync(file, content);
      return file;
    };
    const cases: [string, RegExp][] = [
      [join(folder, 'absent.jsonl'), /absent\.jsonl cannot be read: ENOENT/],
      [written('text', `${call('one', good)}\nhello`), /text, line 2 is not JSON/],
      [
        written('other', '{"role": "agent", "model": "m"}'),
        /other, line 1 is not a recorded call:\n.*completion/s,
      ],
      [written('torn.gz', gzipSync(call('one', good)).subarray(0, 30)), /torn\.gz cannot be read/],
    ];
    for (const [file, message] of cases) {
      const { status, stdout, stderr } = run(file);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).not.toContain('    at ');
    }
  });

  it('explains itself', () => {
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('by_reason') });
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('No file was given') });
    expect(run('--fast')).toMatchObject({ status: 1, stderr: expect.stringContaining('Usage:') });
  });
});
