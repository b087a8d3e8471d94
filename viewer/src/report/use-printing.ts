import { useSyncExternalStore } from 'react';

const paper = typeof matchMedia === 'undefined' ? null : matchMedia('print');

function subscribe(changed: () => void): () => void {
  paper?.addEventListener('change', changed);
  return () => paper?.removeEventListener('change', changed);
}

/** Whether the page is laid out for printing now: parts that scroll on a screen must then be shown in full. */
export function usePrinting(): boolean {
  return useSyncExternalStore(subscribe, () => paper?.matches ?? false);
}
