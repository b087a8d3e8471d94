/** What serves a task by the Model Context Protocol: loaded when it is wanted, since its library is large. */
export async function loadMcp() {
  const [{ serveByHttp, serveOnStandardStreams }, { TaskServer }] = await Promise.all([
    import('./serve.ts'),
    import('./task-server.ts'),
  ]);
  return { serveByHttp, serveOnStandardStreams, TaskServer };
}
