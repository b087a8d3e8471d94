import { describeValidationAgents, oneOfEachKind } from '../fixtures/validation-agents.ts';

for (const task of oneOfEachKind) describeValidationAgents(task);
