import { agents } from '../../agents/index.ts';
import { checkAction, offeredActions, readAction } from '../../environment/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { Action, Decision, RunSpec } from '../../schema/index.ts';
import {
  addDecision,
  decisionName,
  eachEventSync,
  openProposals,
  type Proposal,
  type RunFolder,
  readDecision,
  resolveText,
} from '../../store/index.ts';
import { parseAction } from '../approve-actions.ts';
import { personName } from '../begin-branch.ts';
import { locateRun } from '../locate.ts';
import { oneOf } from '../one-of.ts';
import { plain } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  step?: string;
  branch?: string;
  reason?: string;
  instead?: string;
}

const verdicts = ['allow', 'deny', 'replace'] as const;

export const decide: Verb = {
  arguments: [
    { name: '<run>', description: 'a waiting run (EXPERIMENT/RUN); mlab runs ls lists them' },
    {
      name: '[verdict]',
      choices: verdicts,
      description: `${verdicts.join(', ')}; default: show the pending action`,
    },
  ],
  flags: [
    { flags: '--reason <text>', description: 'reason; if you deny an action, the agent is told' },
    {
      flags: '--instead <action>',
      description: 'with replace: the action to perform, such as: Read File {"file_name": "train.py"}',
    },
    {
      flags: '--step <n>',
      description: 'step to decide on; an error if the run is at another step by now',
    },
    { flags: '--branch <id>', description: 'branch to decide on, if several are waiting' },
  ],
  details:
    'Decides on an action of a run that was started with --approve-later. If mlab run is still running, it resumes the run\n' +
    'within a second; otherwise run the same mlab run command, or its job, again.',
  examples: [
    ['mlab decide start-1/digits-tools-0', 'show the pending action'],
    ['mlab decide start-1/digits-tools-0 allow', 'allow it'],
    [
      'mlab decide start-1/digits-tools-0 deny --reason "That takes hours."',
      'deny it and tell the agent why',
    ],
  ],
  async run(context, [given = '', verdict], options: Options) {
    const { experiment, folder, step: named } = locateRun(context, given, { withSteps: true });
    const run = `${experiment.name}/${folder.id}`;
    const spec = experiment.specOf(folder.id);
    const proposals = proposalsOf(folder, spec?.approve_later === true);
    checkFlags(verdict, options);
    if (verdict === undefined) {
      const shown = proposals.map((proposal) => ({
        ...proposal,
        decision: readDecision(folder, decisionName(proposal)),
      }));
      const text = shown
        .map((each) => `${proposalText(each)}${decidedText(folder, each.decision)}`)
        .join('\n\n');
      const json = { run, proposals: shown };
      return { text: text === '' ? `${run} is not waiting for a decision.` : text, json };
    }
    const proposal = chosen(proposals, named === null ? options : { ...options, step: named }, run);
    const decision = decisionOf(oneOf('verdict', verdicts, verdict), options);
    if (decision.verdict === 'replace' && spec !== null) refuseImpossible(decision.replacement, spec);
    if (!addDecision(folder, decisionName(proposal), decision)) throw decidedAlready(folder, proposal);
    const where = `step ${proposal.step}${proposal.branch === 'main' ? '' : ` of ${proposal.branch}`}`;
    return {
      text: `${run}: ${verdict} ${plain(proposal.action)} (${where}), decided by ${plain(decision.actor)}.${nextText(folder)}`,
      json: { run, proposal, decision },
    };
  },
};

/** A decision is final, so nothing of what was given is left out silently. */
function checkFlags(verdict: string | undefined, { reason, instead }: Options): void {
  if (instead !== undefined && verdict !== 'replace')
    throw new UserError(
      'bad_flag',
      `--instead needs replace${verdict === undefined ? '' : `, not ${verdict}`}.`,
      'Nothing was decided. To perform another action, give the verdict replace with --instead.',
    );
  if (reason !== undefined && verdict === undefined)
    throw new UserError(
      'bad_flag',
      '--reason needs a verdict.',
      `Nothing was decided. Give the verdict before it: ${verdicts.join(', ')}.`,
    );
}

function proposalsOf(folder: RunFolder, isGated: boolean): Proposal[] {
  if (!isGated) {
    throw new UserError(
      'not_asked',
      `The run ${folder.id} does not wait for approval: it was started without --approve-later.`,
      'Start a run, or a branch of this one, with --approve-later.',
    );
  }
  if (!folder.hasTrace()) return [];
  return openProposals(eachEventSync(folder.tracePath), (ref) => resolveText(folder.objects, ref));
}

function chosen(proposals: readonly Proposal[], { branch, step }: Options, run: string): Proposal {
  const [first, another] = proposals.filter(
    (one) => (branch ?? one.branch) === one.branch && (step ?? String(one.step)) === String(one.step),
  );
  if (first === undefined) {
    const where = [
      ...(step === undefined ? [] : [` on step ${step}`]),
      ...(branch === undefined ? [] : [` of ${branch}`]),
    ].join('');
    throw new UserError(
      'not_waiting',
      `${run} is not waiting for a decision${where}.`,
      'mlab runs show prints its state.',
    );
  }
  if (another === undefined) return first;
  const branches = proposals.map((one) => one.branch).join(', ');
  throw new UserError('bad_flag', 'Several branches are waiting.', `Choose one with --branch: ${branches}.`);
}

function decisionOf(verdict: (typeof verdicts)[number], { reason, instead }: Options): Decision {
  const written = { v: 1 as const, time: Date.now(), actor: personName() };
  if (verdict === 'deny') return { ...written, verdict, reason: reason ?? '' };
  const said = reason === undefined ? {} : { reason };
  if (verdict === 'allow') return { ...written, verdict, ...said };
  const replacement = instead === undefined ? null : parseAction(instead);
  if (replacement !== null) return { ...written, verdict, replacement, ...said };
  throw new UserError(
    'bad_flag',
    'replace needs an action: its name and its arguments as a JSON object.',
    'For example: --instead \'Read File {"file_name": "train.py"}\'',
  );
}

/**
 * A decision is final, so the action is checked as the agent's own would be. To a program that asks for a permission it
 * is only told, in words.
 */
function refuseImpossible(replacement: Action, { agent, roles, interactive }: RunSpec): void {
  if (agents.some(({ name, program }) => name === agent && program !== undefined)) return;
  const offered = offeredActions({ model: roles !== undefined, person: interactive === true });
  const checked = checkAction(readAction(replacement), offered);
  if (checked.ok) return;
  throw new UserError(
    'bad_flag',
    `The action of --instead can't be performed. ${checked.observation}`,
    'Nothing was decided. Give the command again with an action that can be performed.',
  );
}

function decidedAlready(folder: RunFolder, proposal: Proposal): UserError {
  const { actor, verdict } = readDecision(folder, decisionName(proposal)) ?? {
    actor: 'Somebody',
    verdict: '',
  };
  return new UserError(
    'decided_already',
    `${actor} has already decided on this action: ${verdict}.`,
    'That decision stands. Resume the run with the same mlab run command, or its job.',
  );
}

/** Whether somebody has decided on a proposal that no process has taken up yet. */
function decidedText(folder: RunFolder, decision: Decision | null): string {
  if (decision === null) return '';
  return `\n${plain(decision.actor)} has decided: ${decision.verdict}.${nextText(folder)}`;
}

/** A process that executes the run takes up a decision by itself. */
function nextText(folder: RunFolder): string {
  return folder.holder() === null ? ' The same mlab run command, or its job, continues the run.' : '';
}

function proposalText({ branch, step, action, args }: Proposal): string {
  const where = branch === 'main' ? '' : ` of branch ${branch}`;
  const shown = plain(JSON.stringify(JSON.parse(args), null, 2));
  return `Step ${step}${where}: the agent wants to ${plain(action)}\n${shown}`;
}
