export { LocalServices, type LocalServicesOptions } from './local-services.ts';
export type { AskForTool } from './model-endpoint.ts';
