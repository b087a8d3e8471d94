import { LiveEvent } from '../../../src/schema/index.ts';
import type { LiveListener, LiveTopic } from './source.ts';

/**
 * Server-sent events. The browser reconnects by itself and requests what it missed. Only if it gives up (the server was
 * gone and replied with an error), a new connection is opened and everything is requested again.
 */
export function watchServer(topic: LiveTopic, listener: LiveListener): () => void {
  const query = new URLSearchParams();
  if (topic.experiment !== undefined) query.set('experiment', topic.experiment);
  if (topic.run !== undefined) query.set('run', topic.run);
  let events: EventSource;
  let again: ReturnType<typeof setTimeout> | undefined;
  let wasLost = false;

  const connect = () => {
    listener.state('connecting');
    events = new EventSource(`api/live?${query}`);
    events.onopen = () => {
      listener.state('open');
      if (wasLost) listener.event({ kind: 'reload' });
      wasLost = false;
    };
    events.onmessage = ({ data }) => {
      const parsed = LiveEvent.safeParse(parseJson(String(data)));
      if (parsed.success) listener.event(parsed.data);
    };
    events.onerror = () => {
      listener.state('lost');
      if (events.readyState !== EventSource.CLOSED) return;
      wasLost = true;
      again = setTimeout(connect, 2000);
    };
  };
  connect();
  return () => {
    clearTimeout(again);
    events.close();
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
