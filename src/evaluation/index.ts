export { evaluateRun } from './evaluate-run.ts';
export { EvaluationIndex, indexName } from './evaluation-index.ts';
export { type Evaluations, evaluationsOf } from './evaluations-of.ts';
export { readTranscript } from './read-transcript.ts';
export { type Remarks, remarksOf } from './remarks-of.ts';
export { type JudgeReply, judgeRun } from './rubric/judge-run.ts';
export { rubricAgreement, summarise } from './rubric/rubric-agreement.ts';
export { agentLabel } from './run-identity.ts';
export { stepSummaries } from './step-summaries.ts';
