export type { OnlyRuns } from './catalogue/catalogue.ts';
export { type Exported, exportViewer, type ViewerExportOptions } from './export-viewer.ts';
export { type RunningViewer, type ServeOptions, serveViewer } from './http/serve.ts';
export { reportPage } from './report-file.ts';
export { reportOptions } from './report-options.ts';
export { startViewerProcess, type ViewerProcess } from './viewer-process.ts';
