export { type Clock, systemClock } from './clock.ts';
export type {
  AnsweredCall,
  Caller,
  CallProgress,
  CallRecord,
  GatewayReply,
  OverQuota,
  WireExchange,
} from './gateway/caller.ts';
export { type AskForProcess, GatewayServer } from './gateway/gateway-server.ts';
export { jsonPieces } from './gateway/json-edits.ts';
export { ModelGateway, type ModelGatewayOptions } from './gateway/model-gateway.ts';
export { unlimitedOutputTokens } from './gateway/output-limit.ts';
export type { ProxyOptions, ProxyRequest } from './gateway/proxy-options.ts';
export { type ListenAt, ProxyServer } from './gateway/proxy-server.ts';
export { readToolChat } from './gateway/tool-chat.ts';
export { Upstream, type UpstreamModel } from './gateway/upstream.ts';
export { type KnownPrice, knownPrices, type LongPromptPrice } from './known-prices.ts';
export {
  type AskOptions,
  CallCut,
  type CallEstimate,
  type LanguageModels,
  type ModelCall,
  ModelUnavailable,
} from './language-models.ts';
export { CallLimiter, type CallPace, type LimiterOptions, type Slot } from './limiter.ts';
export { type Ping, pingModel } from './ping.ts';
export { costOf, mostThatCosts, PriceTable } from './prices.ts';
export {
  builtInProviders,
  type ProviderState,
  type ProviderVariables,
  providerVariables,
} from './providers/index.ts';
export { Quota, type QuotaOptions, type Reservation, type ReserveResult, type SharedQuota } from './quota.ts';
export {
  type ForRunOptions,
  ModelRegistry,
  type ModelRegistryOptions,
  providerOf,
  type SharedPace,
} from './registry.ts';
export { defaultRoles, modelVariables, roleSettings, withModelsOf } from './role-settings.ts';
export { ScriptedReply, type ScriptedReplyInput } from './script.ts';
export { ScriptedModels, type ScriptedModelsOptions, type ScriptedReplies } from './scripted.ts';
