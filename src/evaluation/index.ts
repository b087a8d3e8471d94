export { evaluateRun } from './evaluate-run.ts';
export { EvaluationIndex, indexName } from './evaluation-index.ts';
export { readStory } from './read-story.ts';
export { agentLabel, statusOf } from './run-identity.ts';
