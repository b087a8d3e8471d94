export { toolPurpose } from './chat-format.ts';
export { LocalServices, type LocalServicesOptions } from './local-services.ts';
export type { AskForTool } from './model-endpoint.ts';
