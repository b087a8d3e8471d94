import { LiveEvent } from '../../../src/schema/index.ts';
import type { LiveListener, LiveTopic } from './source.ts';

/**
 * Server-sent events. The browser reconnects by itself and requests what it missed. Only if it gives up (the server was
 * gone and replied with an error), a new connection is opened and everything is requested again. So it is when a hidden
 * page is shown again: hidden pages hold no connection, because browsers allow only six to a server, for all tabs.
 */
export function watchServer(topic: LiveTopic, listener: LiveListener): () => void {
  const query = new URLSearchParams();
  if (topic.experiment !== undefined) query.set('experiment', topic.experiment);
  if (topic.run !== undefined) query.set('run', topic.run);
  let events: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let mayMiss = false;

  const connect = () => {
    listener.state('connecting');
    const opened = new EventSource(`api/live?${query}`);
    events = opened;
    opened.onopen = () => {
      listener.state('open');
      if (mayMiss) listener.event({ kind: 'reload' });
      mayMiss = false;
    };
    opened.onmessage = ({ data }) => {
      const parsed = LiveEvent.safeParse(parseJson(String(data)));
      if (parsed.success) listener.event(parsed.data);
    };
    opened.onerror = () => {
      listener.state('lost');
      if (opened.readyState !== EventSource.CLOSED) return;
      mayMiss = true;
      again = setTimeout(connect, 2000);
    };
  };
  const disconnect = () => {
    clearTimeout(again);
    events?.close();
  };
  const connectWhileShown = () => {
    disconnect();
    if (!document.hidden) connect();
    else {
      mayMiss = true;
      listener.state('hidden');
    }
  };
  document.addEventListener('visibilitychange', connectWhileShown);
  connectWhileShown();
  return () => {
    document.removeEventListener('visibilitychange', connectWhileShown);
    disconnect();
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
