/** The code that serves a task by the Model Context Protocol, loaded only when needed because its library is large. */
export async function loadMcp() {
  const [{ serveByHttp, serveOnStandardStreams }, { TaskServer }] = await Promise.all([
    import('./serve.ts'),
    import('./task-server.ts'),
  ]);
  return { serveByHttp, serveOnStandardStreams, TaskServer };
}
