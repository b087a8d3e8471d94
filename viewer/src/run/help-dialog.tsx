import { useEffect, useRef } from 'react';

const keys = [
  ['j, k', 'the next step, the one before'],
  ['n, p', 'the next warning, the one before'],
  ['g, G', 'the first step, the last one'],
  ['o', 'the run as a whole'],
  ['/', 'search in this run; Enter opens the first hit, and the next'],
  ['?', 'this list'],
  ['Esc', 'leaves the search, closes this list'],
] as const;

/** The keys of the run's page. */
export function HelpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl className="keys">
        {keys.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p className="quiet">On the timeline: arrow keys, Home and End.</p>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}
