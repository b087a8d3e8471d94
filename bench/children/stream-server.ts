/** A provider that streams: each event contains the time when it was written, by a clock that all processes share. */
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    const asked = new URL(request.url ?? '', 'http://localhost').searchParams;
    let left = Number(asked.get('events') ?? 1);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = () => {
      const content = `${process.hrtime.bigint()} `;
      const piece = {
        model: 'm',
        choices: [{ index: 0, delta: { content }, finish_reason: left === 1 ? 'stop' : null }],
      };
      response.write(`data: ${JSON.stringify(piece)}\n\n`);
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      const usage = { prompt_tokens: 10, completion_tokens: 10 };
      response.end(`data: ${JSON.stringify({ model: 'm', choices: [], usage })}\n\ndata: [DONE]\n\n`);
    };
    const timer = setInterval(write, Number(asked.get('every') ?? 10));
    write();
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
// It ends with its parent.
process.stdin.resume().once('end', () => process.exit(0));
