export { LocalServices } from './local-services.ts';
export type { AskForTool } from './model-endpoint.ts';
export { type LocalServicesOptions, serviceRestarts } from './options.ts';
