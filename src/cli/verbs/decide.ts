import { UserError } from '../../lib/errors.ts';
import type { Decision } from '../../schema/index.ts';
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
    { name: '<run>', description: 'a run that waits (EXPERIMENT/RUN): mlab runs ls lists them' },
    {
      name: '[verdict]',
      choices: verdicts,
      description: `${verdicts.join(', ')}; default: show what it waits for`,
    },
  ],
  flags: [
    { flags: '--reason <text>', description: 'why; of an action that is denied the agent is told' },
    {
      flags: '--instead <action>',
      description: 'with replace: what is performed, such as: Read File {"file_name": "train.py"}',
    },
    {
      flags: '--step <n>',
      description: 'the step that is decided on; refused where it is another one by now',
    },
    { flags: '--branch <id>', description: 'where actions of several branches wait: of which' },
  ],
  details:
    'Decides on an action of a run that was begun with --approve-later. The decision lies in the folder of the run: the\n' +
    'mlab run that is still there resumes it within a second, and so does the same mlab run command, or its job, later.',
  examples: [
    ['mlab decide start-1/digits-tools-0', 'what it waits for'],
    ['mlab decide start-1/digits-tools-0 allow', 'perform it'],
    [
      'mlab decide start-1/digits-tools-0 deny --reason "That takes hours."',
      'the agent is told, and goes on',
    ],
  ],
  async run(context, [given = '', verdict], options: Options) {
    const { experiment, folder, step: named } = locateRun(context, given, { withSteps: true });
    const run = `${experiment.plan.name}/${folder.id}`;
    const proposals = proposalsOf(folder, experiment.specOf(folder.id)?.approve_later === true);
    if (verdict === undefined) {
      const text = proposals.map(proposalText).join('\n\n');
      return { text: text === '' ? `${run} waits for no decision.` : text, json: { run, proposals } };
    }
    const proposal = chosen(proposals, named === null ? options : { ...options, step: named }, run);
    const decision = decisionOf(oneOf('verdict', verdicts, verdict), options);
    if (!addDecision(folder, decisionName(proposal), decision)) throw decidedAlready(folder, proposal);
    const where = `step ${proposal.step}${proposal.branch === 'main' ? '' : ` of ${proposal.branch}`}`;
    return {
      text: `${run}: ${verdict} ${plain(proposal.action)} (${where}), decided by ${plain(decision.actor)}.`,
      json: { run, proposal, decision },
    };
  },
};

function proposalsOf(folder: RunFolder, isGated: boolean): Proposal[] {
  if (!isGated) {
    throw new UserError(
      'not_asked',
      `Nobody is asked about the actions of the run ${folder.id}.`,
      'Begin a run, or a branch of this one, with --approve-later.',
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
      `${run} waits for no decision${where}.`,
      'mlab runs show tells its state.',
    );
  }
  if (another === undefined) return first;
  const branches = proposals.map((one) => one.branch).join(', ');
  throw new UserError(
    'bad_flag',
    'Actions of several branches wait.',
    `Say of which: --branch with one of ${branches}.`,
  );
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
    'It must be said what is performed: the name of an action and its arguments as a JSON object.',
    'For example: --instead \'Read File {"file_name": "train.py"}\'',
  );
}

function decidedAlready(folder: RunFolder, proposal: Proposal): UserError {
  const { actor, verdict } = readDecision(folder, decisionName(proposal)) ?? {
    actor: 'Somebody',
    verdict: '',
  };
  return new UserError(
    'decided_already',
    `${actor} has decided on this action: ${verdict}.`,
    'It holds. The run resumes with the same mlab run command, or its job.',
  );
}

function proposalText({ branch, step, action, args }: Proposal): string {
  const where = branch === 'main' ? '' : ` of branch ${branch}`;
  const shown = plain(JSON.stringify(JSON.parse(args), null, 2));
  return `Step ${step}${where}: the agent wants to ${plain(action)}\n${shown}`;
}
