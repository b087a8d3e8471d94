import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { applyEvent, renewLoadedData } from './apply-event.ts';
import { type LiveOutput, withOutput } from './live-output.ts';
import type { LiveState } from './source.ts';
import { useSource } from './use-data.ts';

export interface Live {
  /** `static`: the data never changes. */
  state: LiveState | 'static';
  output: LiveOutput | null;
}

/** Listens to live events, and updates what is shown. */
export function useLive(experiment?: string, run?: string): Live {
  const { live } = useSource();
  const client = useQueryClient();
  const [state, setState] = useState<Live['state']>(live === null ? 'static' : 'connecting');
  const [output, setOutput] = useState<LiveOutput | null>(null);
  useEffect(() => {
    if (live === null) return;
    setOutput(null);
    const topic = { experiment, run };
    let isFirst = true;
    return live(topic, {
      state: setState,
      event(event) {
        if (isFirst) renewLoadedData(client);
        isFirst = false;
        // What was printed meanwhile is in the reply.
        if (event.kind === 'reload') setOutput(null);
        if (event.kind === 'output') setOutput((before) => withOutput(before, event));
        else applyEvent(client, event, topic);
      },
    });
  }, [live, client, experiment, run]);
  return { state, output };
}
