import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReply, type ReplyFormat } from './index.ts';
import type { KnownAction } from './known-action.ts';

const actions: readonly KnownAction[] = [
  action('List Files', 'dir_path'),
  action('Read File', 'file_name'),
  action('Write File', 'file_name', 'content'),
  action('Copy File', 'source', 'destination'),
  action('Execute Script', 'script_name'),
  action('Inspect Script Lines', 'script_name', 'start_line_number', 'end_line_number'),
  action('Edit Script (AI)', 'script_name', 'edit_instruction', 'save_name'),
  action('Edit Script Segment (AI)', 'script_name', 'edit_instruction'),
  action('Reflection', 'things_to_reflect_on'),
  action('Final Answer', 'final_answer'),
];
const research: ReplyFormat = {
  entries: ['Reflection', 'Research Plan and Status', 'Fact Check', 'Thought'],
};
const act: ReplyFormat = { entries: [] };

function action(name: string, ...names: string[]): KnownAction {
  return {
    name,
    arguments: names.map((argument) => ({ name: argument, description: 'text' })),
  };
}

const parse = (text: string, format = act) => parseReply(text, actions, format);

/** The action and arguments of a reply, or the reason why there are none. */
function read(text: string) {
  const reply = parse(text);
  return reply.ok ? [reply.action, reply.args] : reply.reason;
}

/** The arguments that are read from an input of Write File. */
function readContent(input: string) {
  const reply = parse(`Action: Write File\nAction Input: ${input}`);
  return reply.ok ? reply.args : reply.reason;
}

const asked = `Reflection: The folder is unknown.
Research Plan and Status: 1. Look. **2. Train.**
It is early.
Fact Check: Nothing is confirmed.
Thought: I look.
Action: List Files
Action Input: {"dir_path": "."}`;

describe('A reply in the requested format', () => {
  it('gives its entries, its action and its arguments, and needed no repair', () => {
    expect(parse(asked, research)).toEqual({
      ok: true,
      entries: {
        Reflection: 'The folder is unknown.',
        'Research Plan and Status': '1. Look. **2. Train.**\nIt is early.',
        'Fact Check': 'Nothing is confirmed.',
        Thought: 'I look.',
      },
      action: 'List Files',
      args: { dir_path: '.' },
    });
  });

  it('gives all texts unchanged, whatever they contain', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('"', "'", '\\', '\n', '{', '}', ',', ':', 'a', '```', 'Action:', '"""'), {
          maxLength: 12,
        })
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, text, fc.boolean(), (file_name, content, fenced) => {
        const json = JSON.stringify({ file_name, content });
        const input = fenced ? `\`\`\`json\n${json}\n\`\`\`` : json;
        const reply = parse(`Thought: now\nAction: Write File\nAction Input: ${input}\nObservation: done`);
        expect(reply).toMatchObject({ ok: true, action: 'Write File', args: { file_name, content } });
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the types of an input that is only JSON', () => {
    const input = '{"script_name": "a.py", "start_line_number": 1, "end_line_number": "20"}';
    const args = { script_name: 'a.py', start_line_number: 1, end_line_number: '20' };
    expect(read(`Action: Inspect Script Lines\nAction Input: ${input}\n`)).toEqual([
      'Inspect Script Lines',
      args,
    ]);
  });

  it('gives values that are not texts as they were written if there is more than JSON', () => {
    const input = '{"script_name": "a.py", "start_line_number": 10, "end_line_number": ["x", 2]}';
    const args = { script_name: 'a.py', start_line_number: '10', end_line_number: '["x", 2]' };
    expect(read(`Action: Inspect Script Lines\nAction Input:\n\`\`\`\n${input}\n\`\`\``)).toEqual([
      'Inspect Script Lines',
      args,
    ]);
  });
});

describe('Labels', () => {
  const input = '{"dir_path": "."}';
  it.each([
    ['bold, colon inside', `**Thought:** x\n**Action:** List Files\n**Action Input:** ${input}`],
    ['bold, colon outside', `**Action**: List Files\n**Action Input**: ${input}`],
    ['headings', `## Action\nList Files\n\n## Action Input\n\`\`\`json\n${input}\n\`\`\``],
    ['a list', `- Action: List Files\n- Action Input: ${input}`],
    ['a numbered list', `5. Action: List Files\n6. Action Input:\n${input}`],
    ['values in lists', `Action:\n\n* List Files\n\nAction Input:\n\n* ${input}\n\nObservation:`],
    ['brackets', `[Action]: List Files\n[Action Input]: ${input}`],
    ['lower case', `action: List Files\naction input: ${input}`],
    ['snake case', `action: List Files\naction_input: ${input}`],
    ['escaped underscores', `Action: List Files\nAction\\_Input: ${input}`],
    ['one line', `I look. Action: List Files Action Input: ${input}`],
    ['input on the same line', `Action: List Files, Action Input: ${input}`],
    ['no colons', `Thought I look\nAction List Files\nAction Input ${input}`],
    ['other names', `Tool: List Files\nTool Input: ${input}`],
    ['input under a shorter name', `Action: List Files\nInput: ${input}`],
    ['no label for the input', `Action: List Files\n${input}`],
    ['no label for the input, one line', `Action: List Files ${input}`],
    ['called like a function', `Action: List Files(${input})`],
    ['input first', `Action Input: ${input}\nAction: List Files`],
    ['the name as the label', `List Files:\n\`\`\`\n${input}\n\`\`\``],
    ['a code fence around everything', `\`\`\`\nAction: List Files\nAction Input: ${input}\n\`\`\``],
    ['a quote', `> Action: List Files\n> Action Input: ${input}`],
    ['JSON', `{\n  "thought": "I look",\n  "action": "List Files",\n  "action_input": ${input}\n}`],
    ['JSON in one line', `\`\`\`json\n{"action": "List Files", "action_input": ${input}}\n\`\`\``],
    ['Windows line ends', `Thought: x\r\nAction: List Files\r\nAction Input: ${input}\r\n`],
  ])('are found when written with %s', (_, text) => {
    expect(read(text)).toEqual(['List Files', { dir_path: '.' }]);
  });

  it('of entries may be missing, renamed, marked up or in another order', () => {
    const reply = parse(
      '**Thoughts:** I look.\n### Plan\n1. Look.\nAction: List Files\nAction Input: {"dir_path": "."}\nReflection: none',
      research,
    );
    expect(reply).toMatchObject({
      ok: true,
      entries: { Thought: 'I look.', 'Research Plan and Status': '1. Look.', Reflection: 'none' },
    });
  });

  it('spelled as requested have priority over renamed ones', () => {
    const text = asked.replace('The folder is unknown.', 'There is a\n- Plan: none yet.');
    expect(parse(text, research).entries['Research Plan and Status']).toBe(
      '1. Look. **2. Train.**\nIt is early.',
    );
  });

  it('inside a plan are not an action', () => {
    const text = asked.replace('1. Look.', '1. Look.\n- Action: look around\n- Action: train');
    expect(parse(text, research)).toMatchObject({ ok: true, action: 'List Files' });
  });

  it('distinguish the action Reflection from the entry Reflection', () => {
    const text =
      'Reflection: hm\nThought: t\nAction:\nReflection\nAction Input:\n{"things_to_reflect_on": "all"}';
    expect(parse(text, research)).toMatchObject({
      action: 'Reflection',
      entries: { Reflection: 'hm', Thought: 't' },
    });
  });
});

describe('Of several actions', () => {
  const first = 'Action: List Files\nAction Input: {"dir_path": "."}\n';
  const second = 'Thought: now\nAction: Final Answer\nAction Input: {"final_answer": "x"}';

  it('the first counts, and an imagined observation is ignored', () => {
    const reply = parse(`${first}Observation: train.py\n${second}`);
    expect(reply).toMatchObject({ ok: true, action: 'List Files', args: { dir_path: '.' } });
    expect(read(first + second)).toEqual(['List Files', { dir_path: '.' }]);
  });

  it('one without an input is not replaced by one that follows an imagined observation', () => {
    expect(read(`Action: List Files\nObservation: train.py\n${second}`)).toBe('no_input');
  });

  it('those inside an argument are text', () => {
    const content = 'Action: List Files\nAction Input: {"dir_path": "."}\nObservation: x';
    expect(read(`Action: Write File\nAction Input: ${JSON.stringify({ file_name: 'a', content })}`)).toEqual([
      'Write File',
      { file_name: 'a', content },
    ]);
    expect(readContent(`{"file_name": "a", "content": "${content.replaceAll('"', "'")}"}`)).toEqual({
      file_name: 'a',
      content: content.replaceAll('"', "'"),
    });
  });
});

describe('An action’s name', () => {
  const named = (name: string) => {
    const input =
      '{"script_name": "a", "edit_instruction": "b", "save_name": "c", "start_line_number": "1", "end_line_number": "2"}';
    const reply = parse(`Action: ${name}\nAction Input: ${input}`);
    return reply.ok ? reply.action : reply.reason;
  };
  it.each([
    ['execute script', 'Execute Script'],
    ['EXECUTE_SCRIPT', 'Execute Script'],
    ['ExecuteScript', 'Execute Script'],
    ['`Execute Script`', 'Execute Script'],
    ['"Execute Script".', 'Execute Script'],
    ['[Execute Script]', 'Execute Script'],
    ['**Execute Script**', 'Execute Script'],
    ['Execute Script to see what it does', 'Execute Script'],
    ['Execute Script (train.py)', 'Execute Script'],
    ['Use the Execute Script action', 'Execute Script'],
    ['Execute Scripts', 'Execute Script'],
    ['Execute Scrip', 'Execute Script'],
    ['Inspect Script', 'Inspect Script Lines'],
    ['Inspect', 'Inspect Script Lines'],
    ['Edit Script', 'Edit Script (AI)'],
    ['edit_script_ai', 'Edit Script (AI)'],
    ['Edit Script (AI) on the file', 'Edit Script (AI)'],
    ['Edit Script Segment', 'Edit Script Segment (AI)'],
  ])('written as %s is understood', (name, meant) => {
    expect(named(name)).toBe(meant);
  });

  it.each([
    'Edit',
    'Run Script',
    'Edit Lines',
    'None',
    'Exe',
    'Use Execute Script or Inspect Script Lines',
    '',
  ])('is not guessed from %j', (name) => {
    expect(named(name)).toBe('unknown_action');
  });
});

describe('An input', () => {
  const whole = { file_name: 'a.py', content: 'x' };
  it.each([
    ['in a code fence', '\n```json\n{"file_name": "a.py", "content": "x"}\n```'],
    ['after an opening sentence', 'Here it is:\n{"file_name": "a.py", "content": "x"}'],
    ['in single quotes', "{'file_name': 'a.py', 'content': 'x'}"],
    ['in typographic quotes', '{“file_name”: “a.py”, “content”: “x”}'],
    ['with a trailing comma', '{"file_name": "a.py", "content": "x",}'],
    ['without a comma', '{"file_name": "a.py"\n"content": "x"}'],
    ['with comments', '{"file_name": "a.py", // the file\n# and\n"content": /* so */ "x"}'],
    ['with bare names', '{file_name: "a.py", content: "x"}'],
    ['with bare values', '{"file_name": a.py, "content": x}'],
    ['with escaped names', '{"file\\_name": "a.py", "content": "x"}'],
    ['with names in another case', '{"File Name": "a.py", "Content": "x"}'],
    ['with a slip in a name', '{"file_name": "a.py", "contents": "x"}'],
    ['with raw and joined texts', '{"file_name": r"a.py", "content": "" + "x"}'],
    ['in triple quotes', '{"file_name": """a.py""", "content": \'\'\'x\'\'\'}'],
    ['without its closing brace', '{"file_name": "a.py", "content": "x"'],
    [
      'without its closing brace, in a fence',
      '```\n{"file_name": "a.py", "content": "x"\n```\nObservation: y',
    ],
    ['without any braces', '"file_name": "a.py",\n"content": "x"\nObservation: y'],
    ['without colons', '{"file_name" "a.py", "content" "x"}'],
    ['with its quotes escaped', '{\\"file_name\\": \\"a.py\\", \\"content\\": \\"x\\"}'],
    ['with arguments that do not exist', '{"file_name": "a.py", "mode": "w", "content": "x"}'],
    ['with more arguments, loosely', "{'file_name': 'a.py', 'mode': 'w', 'content': 'x'}"],
    ['cut off after all arguments', '{"file_name": "a.py", "content": "x", "why": "beca'],
  ])('%s is read', (_, input) => {
    expect(readContent(input)).toEqual(whole);
  });

  it.each([
    ['raw line breaks', '{"file_name": "a.py", "content": "a\n\tb"}', 'a\n\tb'],
    [
      'unescaped quotes',
      '{"file_name": "a.py", "content": "print("a, b")\nx = ["c"]"}',
      'print("a, b")\nx = ["c"]',
    ],
    ['an apostrophe', "{'file_name': 'a.py', 'content': 'don't'}", "don't"],
    ['an escaped apostrophe', "{'file_name': 'a.py', 'content': 'don\\'t'}", "don't"],
    [
      'unescaped JSON',
      '{"file_name": "a.py", "content": "d = {"k": "v", "l": "w"}"}',
      'd = {"k": "v", "l": "w"}',
    ],
    [
      'an unescaped block',
      '{"file_name": "a.py", "content": "d = {\n"k": "v"\n}\nprint(d)"}',
      'd = {\n"k": "v"\n}\nprint(d)',
    ],
    ['a path', '{"file_name": "a.py", "content": "C:\\data\\.x"}', 'C:\\data\\.x'],
    ['an address', "{'file_name': 'a.py', 'content': 'https://a.b/#c'}", 'https://a.b/#c'],
    [
      'code in triple quotes',
      '{"file_name": "a.py", "content": """\nprint("a\\n")\n"""}',
      '\nprint("a\\n")\n',
    ],
    ['escapes in triple quotes', '{"file_name": "a.py", "content": """a\\nb"""}', 'a\nb'],
    [
      'a docstring at its beginning',
      '{"file_name": "a.py", "content": """"Reads."""\nx = 1"}',
      '"""Reads."""\nx = 1',
    ],
    ['nothing', '{"file_name": """a.py""", "content": """"""}', ''],
    ['Python’s None', "{'file_name': 'a.py', 'content': None}", 'None'],
    ['a list', "{'file_name': 'a.py', 'content': ['a', 'b']}", "['a', 'b']"],
  ])('keeps %s inside a text', (_, input, content) => {
    expect(readContent(input)).toEqual({ file_name: 'a.py', content });
  });

  it.each([
    ['inside a text', '{"file_name": "a.py", "content": "abc'],
    ['inside an escape', '{"file_name": "a.py", "content": "abc\\'],
    ['inside a triple-quoted text', '{"file_name": "a.py", "content": """abc"'],
    ['inside a list', '{"file_name": "a.py", "content": ["a", "b"'],
    ['inside a number', '{"file_name": "a.py", "content": 12'],
    ['inside a name', '{"file_name": "a.py", "cont'],
    ['after a name', '{"file_name": "a.py", "content":'],
    ['after a comma', '{"file_name": "a.py",'],
    ['after a brace inside a text', '{"file_name": "a.py", "content": "d = {1}\n'],
    ['at the first brace', '{'],
    ['at a quote inside code', '{"file_name": "a.py", "content": "print("'],
    ['after a docstring’s first quote', '{"file_name": "a.py", "content": "def f():\n  "'],
    ['after a comma inside code', '{"file_name": "a.py", "content": "open("a.csv", '],
  ])('that ends %s is cut off, not short', (_, input) => {
    expect(readContent(input)).toBe('cut_off');
  });

  it('that is truncated anywhere gives all its arguments or none', () => {
    const args = { file_name: 'a.py', content: 'd = {"k": [1, 2]}\nprint("done, now")' };
    const json = JSON.stringify(args);
    for (let length = 0; length < json.length; length++) {
      const result = readContent(json.slice(0, length));
      expect(result, `cut after ${length}`).toEqual(
        length === json.length - 1 ? args : length === 0 ? 'no_input' : 'cut_off',
      );
    }
  });

  it.each([
    ['missing_argument', '{"file_name": "a.py"}'],
    ['missing_argument', '{"path": "a.py", "content": "x"}'],
    ['missing_argument', '{}'],
    ['no_input', ''],
    ['no_input', '```json\n```'],
    ['unreadable_input', 'None'],
    ['unreadable_input', 'a.py with x'],
    ['unreadable_input', '{a.py; x}'],
  ])('gives %s for %j', (reason, input) => {
    expect(readContent(input)).toBe(reason);
  });
});

describe('An optional argument', () => {
  const search: KnownAction = {
    name: 'Search Files',
    arguments: [
      { name: 'pattern', description: 'text' },
      { name: 'dir_path', description: 'text', optional: true },
    ],
  };
  const readSearch = (input: string) =>
    parseReply(`Action: Search Files\nAction Input: ${input}`, [search], act);

  it('stays left out, and is read where it is given', () => {
    expect(readSearch('{"pattern": "lr"}')).toMatchObject({ ok: true, args: { pattern: 'lr' } });
    expect(readSearch('{pattern: "lr"}')).toMatchObject({ ok: true, args: { pattern: 'lr' } });
    const both = { pattern: 'lr', dir_path: 'src' };
    expect(readSearch(JSON.stringify(both))).toMatchObject({ ok: true, args: both });
    expect(readSearch('{"dir_path": "src"}')).toMatchObject({ ok: false, reason: 'missing_argument' });
  });
});

describe('A refused reply', () => {
  it.each([
    ['empty', ' \n'],
    ['no_action', 'I am not sure what to do.'],
    ['no_action', 'Thought: I should act. The actions are good.'],
    ['unknown_action', 'Action: Dance\nAction Input: {}'],
    ['no_input', 'Thought: x\nAction: List Files'],
  ])('says %s for %j', (reason, text) => {
    expect(read(text)).toBe(reason);
  });

  it('keeps its valid parts, and tells the model what to fix', () => {
    const text = 'Reflection: r\nThought: t\nAction: Copy File\nAction Input: {"source": "a"}';
    expect(parse(text, research)).toEqual({
      ok: false,
      reason: 'missing_argument',
      written: 'Copy File',
      message:
        'The input of Copy File lacks "destination". Write it like this: {"source": <text>, "destination": <text>}',
      entries: { Reflection: 'r', Thought: 't' },
      action: 'Copy File',
    });
    expect(parse('Action: Dance\nAction Input: {}')).toMatchObject({
      message: expect.stringMatching(
        /^"Dance" is not the name of one of the actions\. The actions are: List Files, /,
      ),
    });
    expect(parse('hm', research)).toMatchObject({ message: expect.stringContaining('"Fact Check:"') });
  });
});

describe('Texts joined by +', () => {
  it('are one argument, or no action if they cannot be read', () => {
    expect(readContent('{"file_name": "a.py", "content": "x" + "y"}')).toEqual({
      file_name: 'a.py',
      content: 'xy',
    });
    for (const joined of ['"\\u0" + ""', '"" +\u2028""', '"\0" + "'])
      expect(() => readContent(`{"file_name": "a.py", "content": ${joined}}`)).not.toThrow();
  });
});

describe('Any text', () => {
  const pieces = fc.constantFrom(
    ...[
      'Action:',
      'Action Input:',
      '**Action**',
      'Observation:',
      'Thought:',
      '\n',
      ' ',
      '{',
      '}',
      '"',
      "'",
      ',',
      ':',
    ],
    ...[
      '```',
      '"""',
      '\\',
      '[',
      ']',
      '//',
      '#',
      '+',
      'r"',
      'Write File',
      'List Files',
      'file_name',
      '"content"',
    ],
    ...['"dir_path": ', 'abc', '12', 'None', '“', '”'],
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  const letters = (value: string) => value.replace(/[^\p{L}\p{N}]/gu, '');

  it('never throws, and never gives an argument that it does not contain', () => {
    fc.assert(
      fc.property(text, (random) => {
        for (const reply of [parse(random), parse(`Action: Write File\nAction Input: ${random}`)]) {
          if (!reply.ok) continue;
          for (const value of Object.values(reply.args)) {
            const written = typeof value === 'string' ? value : JSON.stringify(value);
            expect(letters(random)).toContain(letters(written));
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('is read in a time that grows with its length', () => {
    for (const piece of [
      '"',
      '{',
      '\\"',
      '" ',
      '",',
      'Action: ',
      'Action:\n',
      "{'",
      ' ',
      '\n',
      '**',
      '#\n',
      '{"a":',
    ]) {
      const long = `Action: Write File\nAction Input: {"content": "${piece.repeat(20_000)}`;
      expect(parse(long).ok).toBe(false);
      parse(piece.repeat(20_000));
    }
  });

  it('is read in such a time even without the braces of its input', () => {
    for (const piece of [' ', 'a ', '\n ', '\n', "'", '" "', ':', ' :'])
      expect(readContent(`a${piece.repeat(20_000)}b`)).toBe('unreadable_input');
    const spaced = `file_name${' '.repeat(60)}: "a.py", content: "x"`;
    expect(readContent(`${'- '.repeat(20_000)}\n${spaced}`)).toEqual({ file_name: 'a.py', content: 'x' });
  });
});
