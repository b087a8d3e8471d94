import { readCommand } from '../../../src/agents/autogpt/command.ts';
import { parseReply } from '../../../src/agents/common/replies/index.ts';
import { recordedFormat } from '../../../src/agents/common/replies/recorded-format.ts';
import { describeActions } from '../../../src/environment/index.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

const actions = describeActions();
const formats = [recordedFormat, { entries: [] }, { entries: ['Thought'] }];

const asked = `Reflection: The folder is unknown.
Research Plan and Status: 1. Look. **2. Train.**
Fact Check: Nothing is confirmed.
Thought: I look.
Action: Edit Script (AI)
Action Input: {"script_name": "train.py", "edit_instruction": "say \\"x\\"", "save_name": "train.py"}
Observation:`;
const loose = `## Thought
**Action:** \`Write File\`
**Action Input:**
\`\`\`json
{'file_name': "a.py", "content": """x = {"a": 1}
print('don't')""", // why
}
\`\`\``;

export const replyTarget = defineTarget({
  name: 'reply',
  reads: "a text agent's reply of a language model",
  seeds: [
    asked,
    loose,
    'Action: Final Answer\nAction Input: {"final_answer": "a" + "b"}',
    'I am done.',
    `## Thought\n**Action:** \`Write File\`\n**Action Input:**\n\`\`\`json\n{'${'`W '.repeat(3000)}`,
    `Action:l {a,{a,n${'s'.repeat(12_000)}`,
    `Action: Write File\nAction Input: a${' '.repeat(2_000)}b`,
  ],
  words: [
    ...[
      'Action:',
      'Action Input:',
      'Observation:',
      'Thought:',
      'Reflection:',
      '**',
      '```',
      '```json',
      '"""',
      "'''",
    ],
    ...[
      '{"',
      '": "',
      '",',
      '}',
      'r"',
      '\\n',
      '\\"',
      '“',
      '”',
      '‘',
      '’',
      '/*',
      '*/',
      '//',
      '#',
      'True',
      'None',
    ],
    ...actions.slice(0, 12).map(({ name }) => name),
    ...['script_name', 'file_name', 'content', 'final_answer', '"a" + "b"', '\n"', '"\n', '",\n"'],
  ],
  open: () => ({
    run(input) {
      const text = input.toString('utf8');
      for (const format of formats) {
        const reply = parseReply(text, actions, format);
        hold(
          !reply.ok || actions.some(({ name }) => name === reply.action),
          'the action is one that there is',
        );
      }
    },
  }),
});

export const commandTarget = defineTarget({
  name: 'autogpt-command',
  reads: "the agent autogpt's reply of a language model",
  seeds: [
    '{"thoughts": {"text": "a", "plan": ["b"]}, "command": {"name": "Read File", "args": {"file_name": "a"}}}',
    "text {'thoughts': {'text': 'don't'}, 'command': {'name': 'read_file', 'args': {'file_name': 'a',},},}",
    `{'thoughts': {'text': 'x${"': {'}a': 'nd".repeat(1500)}`,
  ],
  words: ['"command"', '"name"', '"args"', '"thoughts"', '{', '}', '"""', "'", 'Read File', '/*', '// ', ','],
  open: () => ({
    run(input) {
      const reading = readCommand(input.toString('utf8'), actions);
      hold(!reading.ok || reading.action.name !== '', 'the command has a name');
    },
  }),
});
