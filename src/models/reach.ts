import type { ProviderSettings } from '../schema/index.ts';
import type { WireModel } from './wire.ts';

export const builtInProviders: readonly string[] = ['anthropic', 'openai', 'google', 'openai-compatible'];
export interface ProviderState {
  provider: string;
  kind: string;
  keyVariable: string;
  keyPresent: boolean;
  keyNeeded: boolean;
  baseUrl: string | null;
  usable: boolean;
  problem: { code: string; message: string; hint: string } | null;
}
export function providerState(
  _provider: string,
  _settings: ProviderSettings,
  _variables: Readonly<Record<string, string | undefined>>,
): ProviderState {
  throw new Error('not there yet');
}
export async function createWireModel(
  _name: string,
  _settings: ProviderSettings,
  _variables: Readonly<Record<string, string | undefined>>,
): Promise<WireModel> {
  throw new Error('not there yet');
}
