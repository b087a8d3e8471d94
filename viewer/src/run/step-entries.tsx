import type { ShownText, StepEntry } from '../../../src/schema/index.ts';
import { ChangedText } from '../parts/changed-text.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { LongText } from './shown-text.tsx';

/** What the agent wrote besides its action: its plan, its thoughts, its beliefs. */
export function StepEntries({ entries, more }: { entries: readonly StepEntry[]; more: number }) {
  if (entries.length === 0) return null;
  return (
    <div className="step-part entries">
      {entries.map(({ name, text, before }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a name may come twice in a step
        <article key={index} className="entry">
          <h3>
            {name}
            {before === null ? null : <span className="quiet"> {changeWords(name, text, before)}</span>}
          </h3>
          <LongText shown={text}>
            {(whole) =>
              before !== null && showsChanges(name) && before.text.text !== text.text ? (
                <ChangedText before={before.text.text} now={whole} />
              ) : (
                <Markdown text={whole} />
              )
            }
          </LongText>
        </article>
      ))}
      {more === 0 ? null : <p className="quiet">{more} more notes are not shown.</p>}
    </div>
  );
}

function changeWords(name: string, text: ShownText, before: NonNullable<StepEntry['before']>): string {
  if (before.text.text === text.text) return `unchanged since step ${before.step}`;
  return showsChanges(name) ? `changes since step ${before.step} are marked` : '';
}

/** A plan grows; thoughts and reflections are written anew each time, so marking their changes would be noise. */
function showsChanges(name: string): boolean {
  return /plan|status|log|todo|summary/i.test(name);
}
