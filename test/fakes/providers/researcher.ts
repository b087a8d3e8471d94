import type { FakeReply } from './reply.ts';
import type { SeenRequest } from './server.ts';

/** One thing that a model does, in terms of the actions. */
export interface Deed {
  action: string;
  args: Record<string, string | number>;
}

/**
 * A model that does these things one after another, for agents that call tools and for agents that write text. It keeps
 * no state: each reply contains its number, and the request shows the last one that was done. Requests that are neither
 * for a tool nor for an action (summaries, for example) are answered with a sentence.
 * @param deeds of the run that the request is part of
 * @param more the usage, and anything else that every reply should have
 */
export function researcher(
  deeds: (request: SeenRequest) => readonly Deed[],
  more: (request: SeenRequest) => FakeReply = () => ({}),
): (request: SeenRequest) => FakeReply {
  return (request) => {
    const body = JSON.stringify(request.body);
    if (!body.includes('Action Input: <') && !body.includes('Final_Answer'))
      return { text: 'As it was told.', ...more(request) };
    const done = [...body.matchAll(/deed-(\d+)\./g)].map(([, number]) => Number(number));
    const number = Math.max(0, ...done) + 1;
    const deed = deeds(request)[number - 1];
    if (deed === undefined) throw new Error(`there is no deed ${number}`);
    const isCalled = body.includes('Final_Answer');
    return { ...(isCalled ? called(deed, number) : written(deed, number)), ...more(request) };
  };
}

function called({ action, args }: Deed, number: number): FakeReply {
  const name = action.replaceAll(/[^A-Za-z0-9]+/g, '_');
  const call = { id: `call_of_deed_${number}`, name, input: JSON.stringify(args) };
  return { text: `This is deed-${number}.`, toolCalls: [call] };
}

function written({ action, args }: Deed, number: number): FakeReply {
  const entries = [
    'Reflection: All went well.',
    'Research Plan and Status: One thing after another.',
    'Fact Check: Nothing is claimed.',
    `Thought: This is deed-${number}.`,
    `Action: ${action}`,
    `Action Input: ${JSON.stringify(args)}`,
  ];
  return { text: entries.join('\n') };
}
