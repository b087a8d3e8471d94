export { createProviderAdapter } from './create-provider-adapter.ts';
export { explainReply, type FailureContext } from './failures.ts';
export {
  builtInProviders,
  type ProviderKind,
  type ProviderProblem,
  type ProviderState,
  type ProviderVariables,
  providerAccess,
  providerState,
  providerVariables,
} from './provider-state.ts';
export { answerWithoutKeys, createRedactor, keyMark, type Redactor, writtenForms } from './redact.ts';
export { retryAfterMs } from './retry-after.ts';
export { connectInThread } from './thread/connect-in-thread.ts';
