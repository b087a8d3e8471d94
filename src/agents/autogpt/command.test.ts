import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describedActions } from '../../../test/fixtures/described-actions.ts';
import { anyText } from '../../../test/fixtures/model-agents.ts';
import { readCommand } from './command.ts';

const read = (text: string) => readCommand(text, describedActions);

const strict = JSON.stringify({
  thoughts: { text: 'I look', reasoning: 'why', plan: ['- one', '- two'], criticism: '', speak: 'Hi.' },
  command: {
    name: 'Inspect Script Lines',
    args: { script_name: 'a.py', start_line_number: 1, end_line_number: 9 },
  },
});

describe('a reply of AutoGPT', () => {
  it('is read as it is if it is JSON', () => {
    expect(read(strict)).toEqual({
      ok: true,
      action: {
        name: 'Inspect Script Lines',
        args: { script_name: 'a.py', start_line_number: 1, end_line_number: 9 },
      },
      thoughts: { Thought: 'I look', Reasoning: 'why', Plan: '- one\n- two', Summary: 'Hi.' },
    });
  });

  it.each([
    ['in a code block, with text around it', `Here it is {so to say}:\n\`\`\`json\n${strict}\n\`\`\`\nDone.`],
    ['with a name in other letters', strict.replace('Inspect Script Lines', 'inspect_script_lines')],
  ])('is read %s', (_, text) => {
    expect(read(text)).toMatchObject({
      ok: true,
      action: { name: 'Inspect Script Lines', args: { end_line_number: 9 } },
    });
  });

  it.each([
    [
      'single quotes',
      "{'thoughts': {'text': 'hm'}, 'command': {'name': 'Write File', 'args': {'file_name': 'a', 'content': 'x'}}}",
    ],
    [
      'trailing commas and comments',
      '{"thoughts": {"text": "hm",}, // so\n"command": {"name": "Write File", "args": {"file_name": "a", "content": "x",},},}',
    ],
    [
      'raw line breaks',
      '{"thoughts": {"text": "hm"}, "command": {"name": "Write File", "args": {\n"file_name": "a",\n"content": "x"}}, "more": "a\nb"}',
    ],
  ])('is read with %s', (_, text) => {
    expect(read(text)).toEqual({
      ok: true,
      action: { name: 'Write File', args: { file_name: 'a', content: 'x' } },
      thoughts: { Thought: 'hm' },
    });
  });

  it('keeps a name that no action has, for the environment to answer', () => {
    expect(read('{"command": {"name": "google", "args": {"query": "x"}}}')).toMatchObject({
      ok: true,
      action: { name: 'google', args: { query: 'x' } },
    });
  });

  it.each([
    ['', /no JSON object/],
    ['I would list the files.', /no JSON object/],
    ['{"thoughts": {"text": "hm"}}', /no JSON object with a "command"/],
    ['{"command": {}}', /"command.name"/],
    ['{"command": {"name": "List Files", "args": "."}}', /"command.args"/],
    ["{'command': 'List Files'}", /can not be read/],
    [
      "{'command': {'name': 'Write File', 'args': {'file_name': 'a'}}}",
      /Write File can not be read, or lack "content"/,
    ],
  ])('that is %j is refused with what is wrong', (text, problem) => {
    expect(read(text)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });

  it('is never completed if it breaks off', () => {
    const whole =
      '{"thoughts": {"text": "t"}, "command": {"name": "Write File", "args": {"file_name": "a.py", "content": "def f():\\n  return {}\\n"}}}';
    for (let length = 0; length < whole.length - 3; length += 1) {
      const reading = read(whole.slice(0, length));
      expect(reading.ok, whole.slice(0, length)).toBe(false);
    }
    expect(read(whole).ok).toBe(true);
  });

  it('gives exactly the arguments that were written, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), anyText, (content, file_name, rest) => {
        const text = JSON.stringify({
          thoughts: { text: rest },
          command: { name: 'Write File', args: { file_name, content } },
        });
        expect(read(text)).toMatchObject({
          ok: true,
          action: { name: 'Write File', args: { file_name, content } },
        });
        read(rest);
      }),
    );
  });
});
