export { type RunningViewer, type ServeOptions, serveViewer } from './http/serve.ts';
export { reportOptions } from './report-options.ts';
