export { createWireModel } from './create-wire-model.ts';
export {
  builtInProviders,
  type ProviderKind,
  type ProviderProblem,
  type ProviderState,
  providerState,
  type Variables,
} from './provider-state.ts';
