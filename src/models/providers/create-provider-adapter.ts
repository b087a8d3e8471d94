import { UserError } from '../../lib/errors.ts';
import { ModelName, type ProviderSettings, type TokenUsage } from '../../schema/index.ts';
import { usageForOutput } from '../estimate.ts';
import {
  type ProviderAdapter,
  ProviderCut,
  ProviderError,
  type ProviderReply,
  type ProviderRequest,
} from '../provider-adapter.ts';
import { explainError, type FailureContext } from './failures.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { type ModelAddress, providerCall } from './prompt.ts';
import { loadProviderModel, type ProviderCall, type ProviderModel } from './provider-model.ts';
import {
  type ProviderProblem,
  type ProviderVariables,
  providerAccess,
  providerState,
} from './provider-state.ts';
import { type Arrived, nothingArrived, type Received, receiveResult, receiveStream } from './receive.ts';
import { answerWithoutKeys, createRedactor, type Redactor } from './redact.ts';
import { toReply, toUsage } from './reply.ts';

const defaultStallSeconds = 120;

/**
 * The model `provider/model`, reached over the network. Loads the package of its provider, but makes no call yet.
 * @throws ProviderError `key_missing`; UserError if the base URL is missing or invalid, or the name is
 */
export async function createProviderAdapter(
  name: string,
  settings: ProviderSettings,
  variables: ProviderVariables,
): Promise<ProviderAdapter> {
  const { provider, model } = splitName(name);
  const access = providerAccess(provider, settings, variables);
  if ('code' in access) throw problemError(access);
  const { kind, keyVariable, baseUrl } = providerState(provider, settings, variables);
  const redactor = createRedactor(settings, variables);
  const isStreaming = settings.stream ?? true;
  const fetch = guardedFetch((settings.stall_seconds ?? defaultStallSeconds) * 1000, isStreaming);
  const address: ModelAddress = { kind, model };
  const providerModel = await loadProviderModel(kind, model, access, fetch);
  const context: FailureContext = { provider, kind, model, keyVariable, baseUrl, isStreaming, redactor };

  return {
    async call(request, signal) {
      signal.throwIfAborted();
      const call = providerCall(address, request, signal);
      const arrived = nothingArrived();
      try {
        const received = await ask(providerModel, call, address, isStreaming, arrived);
        return withoutKeys(toReply(address, received, request.stop), redactor);
      } catch (error) {
        if (signal.aborted) throw new ProviderCut(usageOf(arrived, request, isStreaming));
        const found = explainError(error, context);
        if (!(found instanceof ProviderError)) return { answer: found, answeredBy: null, usage: null };
        // A timeout is not a refusal: the provider has the request, and may be answering it.
        const isPaid = arrived.hasBegun || found.failure === 'timed_out';
        if (!isPaid) throw found;
        const usage = usageOf(arrived, request, isStreaming);
        throw new ProviderError(found.failure, found.message, { ...found, usage });
      }
    },
  };
}

async function ask(
  model: ProviderModel,
  call: ProviderCall,
  { kind }: ModelAddress,
  isStreaming: boolean,
  arrived: Arrived,
): Promise<Received> {
  if (!isStreaming) {
    const result = await model.doGenerate(call);
    Object.assign(arrived, { hasBegun: true, usage: result.usage });
    return receiveResult(result);
  }
  const { stream } = await model.doStream({ ...call, includeRawChunks: kind === 'google' });
  return receiveStream(stream, arrived);
}

/**
 * The charge of a failed attempt: the provider's counts if it gave any. Without a stream it is unknown how far the
 * reply came, and the provider continues it, so the longest possible reply is assumed.
 */
function usageOf(arrived: Arrived, request: ProviderRequest, isStreaming: boolean): TokenUsage {
  const counted = arrived.usage === null ? null : toUsage(arrived.usage);
  return counted ?? usageForOutput(request, isStreaming ? arrived.bytes : Number.POSITIVE_INFINITY);
}

/** A server may send anything back, even the key that it got. */
function withoutKeys(reply: ProviderReply, redactor: Redactor): ProviderReply {
  const { answer, answeredBy, usage } = reply;
  const shown = answeredBy === null ? null : redactor.text(answeredBy);
  return { answer: answerWithoutKeys(answer, redactor), answeredBy: shown, usage };
}

function splitName(name: string): { provider: string; model: string } {
  if (!ModelName.safeParse(name).success) {
    throw new UserError(
      'bad_model_name',
      `${JSON.stringify(name)} is not the name of a language model.`,
      'Give it as provider/model, such as anthropic/claude-opus-4-5.',
    );
  }
  const slash = name.indexOf('/');
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

function problemError({ code, message, hint }: ProviderProblem): ProviderError | UserError {
  if (code === 'key_missing') return new ProviderError('key_missing', message, { isPassing: false, hint });
  return new UserError(code, message, hint);
}
