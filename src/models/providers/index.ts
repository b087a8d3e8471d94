export { createProviderAdapter } from './create-provider-adapter.ts';
export {
  builtInProviders,
  type ProviderKind,
  type ProviderProblem,
  type ProviderState,
  providerState,
  type Variables,
} from './provider-state.ts';
