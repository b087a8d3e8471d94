import { z } from 'zod';
import type { FakeReply } from './reply.ts';
import type { SeenRequest } from './server.ts';

/** The model's part of one turn. */
export type Turn =
  /** Runs a command with the program's own tool for it. */
  | { run: string; text?: string }
  /** Calls the tool whose name equals or matches this. */
  | { call: string | RegExp; input: object; text?: string }
  /** Writes text and calls no tool, which ends most programs' work. */
  | { text: string };

export interface TurnsOptions {
  /**
   * In order, for requests that offer tools: the number of turns taken is the number of tool results in the request.
   */
  turns: readonly Turn[];
  /** Answers to requests without tools, in order (titles, summaries, programs that work by text); then `Done.` */
  texts?: readonly string[];
}

/**
 * A scripted model, for `startProviderServer({ answer: inTurns({ turns: [{ run: 'ls' }, { text: 'Done.' }] }) })`. It
 * reads the content of each request and does not count requests: a program may retry, or send others in parallel.
 */
export function inTurns({ turns, texts = [] }: TurnsOptions): (request: SeenRequest) => FakeReply {
  let said = 0;
  return (request) => {
    const tools = toolsOf(request.body);
    if (tools.length === 0) return { text: texts[said++] ?? 'Done.' };
    const taken = resultsIn(request.body);
    const turn = turns[taken] ?? { text: 'Done.' };
    if (!('run' in turn) && !('call' in turn)) return { text: turn.text };
    const [tool, input] = 'run' in turn ? shellCall(tools, turn.run) : [named(tools, turn.call), turn.input];
    const call = { id: `call_${taken + 1}`, name: tool.name, input: JSON.stringify(input) };
    return { toolCalls: [call], ...(turn.text === undefined ? {} : { text: turn.text }) };
  };
}

interface OfferedTool {
  name: string;
  schema: z.infer<typeof Schema>;
}

const Property = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.looseObject({ type: z.string().optional() })).optional(),
});
const Schema = z
  .looseObject({
    properties: z.record(z.string(), Property).default({}),
    required: z.array(z.string()).default([]),
  })
  .catch({ properties: {}, required: [] });
/** A tool in any of the formats, or an object with several tools. */
const Offered = z.looseObject({
  name: z.string().optional(),
  input_schema: z.unknown().optional(),
  parameters: z.unknown().optional(),
  parametersJsonSchema: z.unknown().optional(),
  function: z.unknown().optional(),
  functionDeclarations: z.array(z.unknown()).optional(),
});

/** The tools that a request offers, in any format. Google wraps them in a list. */
export function toolsOf(body: unknown): OfferedTool[] {
  const tools = z.looseObject({ tools: z.unknown() }).safeParse(body);
  return tools.success ? [tools.data.tools ?? []].flat().flatMap(offered) : [];
}

function offered(tool: unknown): OfferedTool[] {
  const read = Offered.safeParse(tool);
  if (!read.success) return [];
  const { name, function: inner, functionDeclarations = [], ...forms } = read.data;
  const own = forms.input_schema ?? forms.parameters ?? forms.parametersJsonSchema;
  return [
    ...(name === undefined ? [] : [{ name, schema: Schema.parse(own) }]),
    ...[inner, ...functionDeclarations].flatMap(offered),
  ];
}

const shells =
  /^(bash|shell|shell_command|exec_command|run_shell_command|execute_bash|terminal|run_command|.*__shell)$/i;
const commands = /^(command|cmd|commands|script)$/i;

function shellCall(tools: readonly OfferedTool[], command: string): [OfferedTool, object] {
  const tool = named(tools, shells);
  const { properties, required } = tool.schema;
  const place = Object.keys(properties).find((name) => commands.test(name)) ?? 'command';
  const isList = [properties[place]?.type].flat().includes('array');
  const rest = required.filter((name) => name !== place);
  return [
    tool,
    {
      [place]: isList ? ['bash', '-c', command] : command,
      ...Object.fromEntries(rest.map((name) => [name, anyValue(properties[name])])),
    },
  ];
}

/** A possible value of a required argument. */
function anyValue(property: z.infer<typeof Property> | undefined): unknown {
  if (property?.enum !== undefined) return property.enum[0];
  switch ([property?.type ?? property?.anyOf?.[0]?.type].flat()[0]?.toLowerCase()) {
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return 60;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'as the test says';
  }
}

function named(tools: readonly OfferedTool[], name: string | RegExp): OfferedTool {
  const found = tools.find((tool) => (typeof name === 'string' ? tool.name === name : name.test(tool.name)));
  if (found !== undefined) return found;
  throw new Error(`none of the tools is ${name}: ${tools.map((tool) => tool.name).join(', ')}`);
}

/** The number of tool results in a request, in any format. */
export function resultsIn(body: unknown): number {
  const Item = z.looseObject({
    role: z.string().optional().catch(undefined),
    type: z.string().optional().catch(undefined),
    functionResponse: z.unknown().optional(),
    content: z.unknown().optional(),
    parts: z.unknown().optional(),
  });
  const count = (items: unknown): number => {
    if (!Array.isArray(items)) return 0;
    return items.reduce((sum: number, given: unknown) => {
      const item = Item.safeParse(given);
      if (!item.success) return sum;
      const { role, type, functionResponse, content, parts } = item.data;
      const isResult =
        role === 'tool' ||
        type === 'tool_result' ||
        /_call_output$/.test(type ?? '') ||
        functionResponse !== undefined;
      return sum + (isResult ? 1 : count(content) + count(parts));
    }, 0);
  };
  const held = z.looseObject({
    messages: z.unknown().optional(),
    input: z.unknown().optional(),
    contents: z.unknown().optional(),
  });
  const { messages, input, contents } = held.parse(body);
  return count(messages) + count(input) + count(contents);
}
