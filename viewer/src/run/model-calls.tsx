import { useState } from 'react';
import { Link } from 'react-router';
import type { EarlierMessages, ShownMessage, ShownToolCall, StepCall } from '../../../src/schema/index.ts';
import { runAddress } from '../addresses.ts';
import { showAmount, showMoney, showPlural, showSeconds, showWords } from '../format/numbers.ts';
import { Code } from '../parts/code.tsx';
import { LongText } from './shown-text.tsx';
import { useStepPlace } from './step-place.ts';

/** The model calls of a step. Their texts are drawn when they are opened. */
export function ModelCalls({ calls }: { calls: readonly StepCall[] }) {
  if (calls.length === 0) return null;
  return (
    <div className="step-part">
      <h3>{showPlural(calls.length, 'model call')}</h3>
      {calls.map((call) => (
        <ModelCall key={call.call} call={call} />
      ))}
    </div>
  );
}

function ModelCall({ call }: { call: StepCall }) {
  const [open, setOpen] = useState(false);
  const { usage } = call;
  return (
    <details className="call" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{call.purpose}</strong> {call.model}{' '}
        <span className="quiet">
          {call.role} · {showAmount(usage.input)} → {showAmount(usage.output)} tokens
          {usage.source === 'estimate' ? ' (estimated)' : ''} · {showMoney(call.cost)} ·{' '}
          {showSeconds(call.latency_ms / 1000)}
          {call.waiting_ms >= 100 ? ` · waited ${showSeconds(call.waiting_ms / 1000)}` : ''}
          {call.attempts.length > 0 ? ` · ${showPlural(call.attempts.length, 'failed attempt')}` : ''}
        </span>
        {call.failure === null ? null : <span className="bad"> {showWords(call.failure.failure)}</span>}
      </summary>
      {open ? <CallTexts call={call} /> : null}
    </details>
  );
}

function CallTexts({ call }: { call: StepCall }) {
  return (
    <div>
      <p className="quiet">
        call {call.call}, at most {showAmount(call.max_output_tokens)} tokens
        {call.temperature === null ? '' : `, temperature ${call.temperature}`}
        {call.answered_by === null ? '' : `, answered by ${call.answered_by}`}
        {call.usage.cached_input > 0 ? `, ${showAmount(call.usage.cached_input)} tokens from the cache` : ''}
        {call.usage.reasoning > 0 ? `, ${showAmount(call.usage.reasoning)} tokens of reasoning` : ''}
        {call.tools.length > 0 ? `, tools: ${call.tools.join(', ')}` : ''}
      </p>
      {call.attempts.map((attempt, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tries are their order
        <p key={index} className="bad">
          {showWords(attempt.failure)}: {attempt.message}{' '}
          <span className="quiet">waited {showSeconds(attempt.waited_ms / 1000)}</span>
        </p>
      ))}
      {call.messages.map((message, index) =>
        'call' in message ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages are their order
          <Earlier key={index} messages={message} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages are their order
          <Message key={index} message={message} open={index === call.messages.length - 1} />
        ),
      )}
      {call.answer === null ? null : (
        <article className="message message-answer">
          <h4>
            answer
            {call.answer.kind === 'answered' ? null : (
              <span className="bad"> {showWords(call.answer.kind)}</span>
            )}
            {call.answer.finish === 'length' ? (
              <span className="bad"> cut off at the limit of tokens</span>
            ) : null}
          </h4>
          <LongText shown={call.answer.text}>{(text) => <p className="plain-text">{text}</p>}</LongText>
          <ToolCalls calls={call.answer.tool_calls} />
        </article>
      )}
      {call.failure === null ? null : <p className="bad">{call.failure.message}</p>}
    </div>
  );
}

function Earlier({ messages: { call, step, from, count } }: { messages: EarlierMessages }) {
  const { experiment, run } = useStepPlace();
  return (
    <p className="quiet">
      {count === 1 ? `Message ${from + 1}` : `Messages ${from + 1} to ${from + count}`} of call {call}, in{' '}
      <Link to={runAddress(experiment, run, step)}>step {step}</Link>
    </p>
  );
}

/** The last message is new; the ones before are mostly those of the previous call. */
function Message({ message, open }: { message: ShownMessage; open: boolean }) {
  return (
    <details className="message" open={open}>
      <summary>
        {message.role}
        {message.name === null ? '' : ` ${message.name}`}{' '}
        <span className="quiet">{showAmount(message.text.length)} characters</span>
      </summary>
      <LongText shown={message.text}>{(text) => <p className="plain-text">{text}</p>}</LongText>
      <ToolCalls calls={message.tool_calls} />
    </details>
  );
}

function ToolCalls({ calls }: { calls: readonly ShownToolCall[] }) {
  return calls.map(({ name, input }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: calls are their order
    <div key={index}>
      <h4>{name}</h4>
      <LongText shown={input}>{(text) => <Code text={text} language="json" label={name} />}</LongText>
    </div>
  ));
}
