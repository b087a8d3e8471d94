import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

/**
 * Serves a language model on loopback as OpenAI's Chat Completions, with streams and tools: `serve.ts FOLDER MODEL`, where the
 * folder has node-llama-cpp and the model is a GGUF file. Prints its base URL when it is ready. If a request has tools,
 * the reply is constrained to the form of a call, an option that servers have: a model this small would never make one
 * by itself.
 */
const [folder = '', modelPath = ''] = process.argv.slice(2);

/** The used parts of node-llama-cpp, which is not a dependency. */
interface Llama {
  loadModel(options: { modelPath: string }): Promise<Model>;
  createGrammarForJsonSchema(schema: object): Promise<unknown>;
}
interface Model {
  tokenizer: unknown;
  createContext(options: { contextSize: number; threads: number }): Promise<{ getSequence(): unknown }>;
}
interface Chat {
  chatWrapper: {
    generateContextState(options: { chatHistory: HistoryItem[] }): {
      contextText: { tokenize(tokenizer: unknown): unknown[] };
    };
  };
  generateResponse(
    history: HistoryItem[],
    options: object,
  ): Promise<{ response: string; metadata: { stopReason: string } }>;
}
type HistoryItem = { type: 'system' | 'user'; text: string } | { type: 'model'; response: string[] };
interface Library {
  getLlama(options: object): Promise<Llama>;
  LlamaChat: new (options: { contextSequence: unknown }) => Chat;
}

const Content = z
  .union([z.string(), z.array(z.object({ text: z.string().default('') })), z.null()])
  .default('')
  .transform((content) =>
    Array.isArray(content) ? content.map(({ text }) => text).join('\n') : (content ?? ''),
  );
const Request = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: Content, tool_calls: z.unknown().optional() })),
  tools: z
    .array(
      z.object({
        function: z.object({
          name: z.string(),
          description: z.string().default(''),
          parameters: z.unknown(),
        }),
      }),
    )
    .default([]),
  max_tokens: z.number().nullish(),
  max_completion_tokens: z.number().nullish(),
  temperature: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  stream: z.boolean().default(false),
});
type Request = z.infer<typeof Request>;

const Call = z.object({ name: z.string(), arguments: z.unknown() });

/** The model's own limit. */
const contextSize = 8192;
const defaultReplyTokens = 200;

const library: Library = await import(
  pathToFileURL(createRequire(join(folder, 'package.json')).resolve('node-llama-cpp')).href
);
const llama = await library.getLlama({ gpu: false, build: 'never', logLevel: 'error' });
const model = await llama.loadModel({ modelPath });
// One thread: several wait for each other by spinning, which gets nowhere on a busy machine.
const context = await model.createContext({ contextSize, threads: 1 });
const chat = new library.LlamaChat({ contextSequence: context.getSequence() });

/** The model serves one request at a time. */
let last: Promise<unknown> = Promise.resolve();
let seed = 0;

const server = createServer((request, response) => {
  last = last
    .then(() => serve(request, response))
    .catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      response.destroy();
    });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}/v1\n`);
});

async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  if (incoming.url !== '/v1/chat/completions') {
    refuse(response, 404, 'not_found', `There is no ${incoming.url}.`);
    return;
  }
  const read = Request.safeParse(JSON.parse(Buffer.concat(parts).toString('utf8')));
  if (!read.success) refuse(response, 400, 'invalid_request_error', z.prettifyError(read.error));
  else await answer(read.data, response);
}

async function answer(request: Request, response: ServerResponse): Promise<void> {
  const history = historyOf(request);
  const { contextText } = chat.chatWrapper.generateContextState({ chatHistory: history });
  const inputTokens = contextText.tokenize(model.tokenizer).length;
  const most = request.max_completion_tokens ?? request.max_tokens ?? defaultReplyTokens;
  if (inputTokens + most > contextSize) {
    const message = `This model's maximum context length is ${contextSize} tokens. However, you requested ${inputTokens + most} tokens.`;
    refuse(response, 400, 'context_length_exceeded', message);
    return;
  }
  const reply = new Reply(request, response);
  let outputTokens = 0;
  seed += 1;
  const { response: text, metadata } = await chat.generateResponse(history, {
    maxTokens: most,
    temperature: request.temperature ?? 0.7,
    seed,
    customStopTriggers: typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []),
    onToken: (tokens: unknown[]) => {
      outputTokens += tokens.length;
    },
    ...(request.tools.length > 0
      ? { grammar: await llama.createGrammarForJsonSchema(callSchema(request.tools)) }
      : { onTextChunk: (chunk: string) => reply.text(chunk) }),
  });
  const isCut = metadata.stopReason === 'maxTokens';
  if (request.tools.length === 0) reply.finish(isCut ? 'length' : 'stop', inputTokens, outputTokens);
  else {
    const called = isCut ? null : Call.parse(JSON.parse(text));
    if (called === null) reply.text(text);
    else reply.call(called.name, JSON.stringify(called.arguments));
    reply.finish(called === null ? 'length' : 'tool_calls', inputTokens, outputTokens);
  }
}

/** Roles that the model's template lacks are written as text. */
function historyOf({ messages, tools }: Request): HistoryItem[] {
  const described = tools.map(({ function: { name, description } }) => `${name}: ${description}`);
  const items = messages.map(({ role, content, tool_calls }): HistoryItem => {
    if (role === 'system' || role === 'developer') return { type: 'system', text: content };
    if (role !== 'assistant') return { type: 'user', text: content };
    const calls = tool_calls === undefined ? '' : JSON.stringify(tool_calls);
    return { type: 'model', response: [[content, calls].filter((text) => text !== '').join('\n')] };
  });
  return [
    ...(described.length === 0 ? [] : [{ type: 'system' as const, text: `Tools:\n${described.join('\n')}` }]),
    ...items,
    { type: 'model', response: [] },
  ];
}

/** One call of one of the tools. */
function callSchema(tools: Request['tools']): object {
  return {
    oneOf: tools.map(({ function: { name, parameters } }) => ({
      type: 'object',
      properties: { name: { const: name }, arguments: shortened(parameters) },
    })),
  };
}

const Parameters = z.object({
  properties: z.record(z.string(), z.object({ type: z.string().default('string') })).default({}),
});

/** The arguments' names and plain types; texts are kept short, so that a call ends. */
function shortened(parameters: unknown): object {
  const properties = Object.entries(Parameters.parse(parameters ?? {}).properties).map(([name, { type }]) => [
    name,
    ['integer', 'number', 'boolean'].includes(type) ? { type } : { type: 'string', maxLength: 60 },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** Writes a reply, in one piece or as a stream. */
class Reply {
  readonly #request: Request;
  readonly #response: ServerResponse;
  #text = '';
  #call: object | null = null;

  constructor(request: Request, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' });
  }

  text(chunk: string): void {
    this.#text += chunk;
    this.#chunk({
      choices: [{ index: 0, delta: { role: 'assistant', content: chunk }, finish_reason: null }],
    });
  }

  call(name: string, callArguments: string): void {
    this.#call = { id: `call_${seed}`, type: 'function', function: { name, arguments: callArguments } };
    const delta = { role: 'assistant', tool_calls: [{ index: 0, ...this.#call }] };
    this.#chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  }

  finish(reason: string, prompt_tokens: number, completion_tokens: number): void {
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    if (this.#request.stream) {
      this.#chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
      this.#chunk({ choices: [], usage });
      this.#response.end('data: [DONE]\n\n');
      return;
    }
    const calls = this.#call === null ? {} : { tool_calls: [this.#call] };
    const message = { role: 'assistant', content: this.#text, ...calls };
    const choices = [{ index: 0, message, finish_reason: reason }];
    this.#response.end(JSON.stringify({ ...this.#head('chat.completion'), choices, usage }));
  }

  #chunk(body: object): void {
    if (!this.#request.stream) return;
    this.#response.write(`data: ${JSON.stringify({ ...this.#head('chat.completion.chunk'), ...body })}\n\n`);
  }

  #head(object: string): object {
    return {
      id: `reply-${seed}`,
      object,
      created: Math.floor(Date.now() / 1000),
      model: this.#request.model,
    };
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code } }));
}
