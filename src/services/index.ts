export { LocalServices } from './local-services.ts';
export { type LocalServicesOptions, serviceRestarts } from './options.ts';
