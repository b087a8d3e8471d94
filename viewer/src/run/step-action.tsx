import type { StepArgument, StepPage } from '../../../src/schema/index.ts';
import { joinedOutput, type OutputPart } from '../data/live-output.ts';
import { showPlural } from '../format/numbers.ts';
import { AnsiText } from '../parts/ansi-text.tsx';
import { Code } from '../parts/code.tsx';
import { type Language, languageOf } from '../parts/language.ts';
import { Scroll } from '../parts/scroll.tsx';
import { LongText } from './shown-text.tsx';

/** The arguments of the action: short ones in a line, long ones as code. */
export function StepArguments({ page }: { page: StepPage }) {
  if (page.arguments.length === 0) return null;
  const short = page.arguments.filter(isShort);
  const long = page.arguments.filter((argument) => !isShort(argument));
  return (
    <div className="step-part arguments">
      {short.length === 0 ? null : (
        <dl className="short-arguments">
          {short.map(({ name, text }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text.text === '' ? <span className="quiet">(empty)</span> : <code>{text.text}</code>}</dd>
            </div>
          ))}
        </dl>
      )}
      {long.map((argument) => (
        <LongArgument key={argument.name} argument={argument} page={page} />
      ))}
    </div>
  );
}

/** A file that was written as a whole is folded if its changes are shown, which are what is new. */
function LongArgument({ argument, page }: { argument: StepArgument; page: StepPage }) {
  const { name, text: shown } = argument;
  const lines = shown.text.split('\n').length;
  const folded = page.changed_count > 0 && lines > 12;
  const code = (
    <LongText shown={shown}>
      {(text) => <Code text={text} language={languageIn(argument, page.arguments)} label={name} />}
    </LongText>
  );
  if (folded) {
    return (
      <details className="file">
        <summary>
          {name} <span className="quiet">{showPlural(lines, 'line')}; what they changed is shown below</span>
        </summary>
        {code}
      </details>
    );
  }
  return (
    <div>
      <h3 className="argument-name">{name}</h3>
      {code}
    </div>
  );
}

function isShort({ text, is_text: isText }: StepArgument): boolean {
  return text.text.length <= 120 && !text.text.includes('\n') && (isText || text.text.length <= 60);
}

/** Code for a file has the language of that file; instructions to an editor are prose. */
function languageIn(argument: StepArgument, all: readonly StepArgument[]): Language | null {
  if (!argument.is_text) return 'json';
  if (/instruction|question|answer|reflection|look/i.test(argument.name)) return null;
  const file = all.find(({ name }) => /file|script.?name|path|destination/i.test(name));
  return file === undefined ? null : languageOf(file.text.text);
}

/** The result: the observation, or the output so far while the step is running. */
export function StepObservation({ page, live }: { page: StepPage; live: OutputPart | null }) {
  const known = page.output;
  const printed = live === null ? known : known === null ? live : joinedOutput(known, live);
  return (
    <div className="step-part">
      <h3>
        {page.observation === null ? 'Output so far' : 'Observation'}
        {page.by_model ? (
          <span className="quiet"> written by a language model: its numbers are not measurements</span>
        ) : null}
        {page.exit_code === null || page.exit_code === 0 ? null : (
          <span className="bad"> exit code {page.exit_code}</span>
        )}
      </h3>
      {page.observation === null ? (
        printed === null || printed.text === '' ? (
          <p className="quiet">
            {page.status === 'running' ? 'Nothing was printed yet.' : 'Nothing was recorded.'}
          </p>
        ) : (
          <Output text={printed.text} />
        )
      ) : (
        <LongText shown={page.observation}>{(text) => <Output text={text} />}</LongText>
      )}
    </div>
  );
}

function Output({ text }: { text: string }) {
  if (text === '') return <p className="quiet">Empty.</p>;
  return (
    <Scroll className="output" label="output">
      <pre>
        <AnsiText text={text} />
      </pre>
    </Scroll>
  );
}

/** For an imported run: what its environment did inside the action. */
export function InnerSteps({ page }: { page: StepPage }) {
  if (page.inner.length === 0) return null;
  return (
    <details className="inner">
      <summary>What the action did inside: {page.inner.length}</summary>
      {page.inner.map(({ action, args, observation }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no name of their own
        <div key={index}>
          <h4>{action}</h4>
          <LongText shown={args}>{(text) => <Code text={text} language="json" label="arguments" />}</LongText>
          <LongText shown={observation}>{(text) => <Output text={text} />}</LongText>
        </div>
      ))}
    </details>
  );
}
