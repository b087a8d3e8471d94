import type { StepProgress } from '../environment/index.ts';
import { type ExperimentProgress, type Outage, outageText } from '../runs/index.ts';
import type { EventOf, Grade, RunRecord } from '../schema/index.ts';
import { improvementOf } from '../statistics/index.ts';
import type { Context } from './context.ts';
import type { LogFacts, Logger } from './logger.ts';

/** Logs the progress of an experiment: docs/how-to/watch-many-runs.md lists the events. */
export function logProgress(logger: Logger): (progress: ExperimentProgress) => void {
  return (progress) => {
    const { id, experiment, task, agent, seed } = progress.run;
    const run: LogFacts = { experiment, run: id };
    switch (progress.kind) {
      case 'run_kept':
        return logger.write('debug', 'run_kept', { ...run, status: progress.record.status });
      case 'run_waits':
        return logger.write('info', 'run_waits', { ...run, holder: progress.holder });
      case 'run_taken_over': {
        const { holder, epoch, silent } = progress;
        return logger.write('warn', 'lease_taken_over', { ...run, holder, epoch, silent });
      }
      case 'run_queued':
        return logger.write('debug', 'run_queued', { ...run, place: progress.place });
      case 'run_started': {
        const event = progress.resumed ? 'run_resumed' : 'run_started';
        return logger.write('info', event, { ...run, task, agent, seed, place: progress.place });
      }
      case 'run_step':
        return logStep(logger, run, progress.progress);
      case 'run_ended':
        return progress.record.status === 'waiting'
          ? logWait(logger, run, progress.record)
          : logEnd(logger, run, progress.record);
      case 'run_graded':
        return logGrades(logger, run, progress.grades);
      case 'run_not_graded':
        return logger.write('error', 'run_not_graded', { ...run, error: progress.error });
    }
  };
}

/** Says that a service does not answer, or answers again: to people, and in the log. */
export function reportOutage({ log, logger }: Pick<Context, 'log' | 'logger'>): (outage: Outage) => void {
  return (outage) => {
    const { service, isOver, why } = outage;
    log(outageText(outage));
    if (isOver) logger.write('info', 'service_answers', { service });
    else logger.write('warn', 'service_silent', { service, message: why === '' ? undefined : why });
  };
}

/** The run has not ended: it resumes once a person has decided. */
function logWait(logger: Logger, run: LogFacts, { waits_for = [], steps, seconds_used }: RunRecord): void {
  const facts = { actions: waits_for.length, steps, seconds: rounded(seconds_used) };
  logger.write('info', 'run_waits_for_decision', { ...run, ...facts });
}

function logEnd(logger: Logger, run: LogFacts, { status, end, steps, seconds_used, spent }: RunRecord): void {
  const level = {
    finished: 'info',
    waiting: 'info',
    interrupted: 'warn',
    failed: 'error',
    running: 'warn',
    pending: 'warn',
  } as const;
  const isOurs = end?.cause === undefined || end.cause === 'sandbox';
  logger.write(level[status], 'run_ended', {
    ...{ ...run, status, reason: end?.reason, cause: end?.cause, steps, seconds: rounded(seconds_used) },
    ...{
      model_calls: spent?.calls,
      tokens: spent?.tokens,
      cost: spent?.money,
      unpriced_calls: spent?.unpriced,
    },
    // Other messages may quote agents and providers.
    ...(end?.reason === 'infrastructure_error' && isOurs ? { message: end.message } : {}),
  });
}

export function logGrades(logger: Logger, run: LogFacts, grades: readonly Grade[]): void {
  const last = grades.findLast(({ final }) => final) ?? grades.at(-1);
  logger.write('info', 'run_graded', {
    ...{ ...run, states: grades.length, final: last?.final, valid: last?.valid, score: last?.score },
    ...(last?.valid === true ? { improvement: improvementOf(last) } : {}),
    ...(last?.valid === false ? { problems: last.problems.map(({ code }) => code).join(' ') } : {}),
  });
}

function logStep(logger: Logger, run: LogFacts, progress: StepProgress): void {
  if (progress.kind === 'step_finished') {
    const { step, status, exitCode, durationMs } = progress.result;
    // The name of an invalid action is whatever text the agent wrote.
    const action = status === 'invalid' ? null : progress.action;
    const seconds = rounded(durationMs / 1000);
    logger.write('debug', 'step_finished', { ...run, step, action, status, exit_code: exitCode, seconds });
  } else if (progress.kind === 'model_called') {
    logger.write('debug', 'model_call', { ...run, ...callFacts(progress.call) });
  } else if (progress.kind === 'model_retry') {
    const { failure, duration_ms, waited_ms } = progress.attempt;
    const times = { seconds: rounded(duration_ms / 1000), waits_seconds: rounded(waited_ms / 1000) };
    logger.write('warn', 'model_retry', { ...run, model: progress.model, failure, ...times });
  }
}

function callFacts(call: EventOf<'model_call'>): LogFacts {
  const { usage, attempts } = call;
  return {
    ...{ call: call.call, step: call.step, role: call.role, purpose: call.purpose, model: call.model },
    ...{ input_tokens: usage.input, output_tokens: usage.output, cost: call.cost },
    ...{ seconds: rounded(call.latency_ms / 1000), waited_seconds: rounded(call.waiting_ms / 1000) },
    ...{ failed_tries: attempts.length, failure: call.failure?.failure },
  };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
