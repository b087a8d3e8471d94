import { allTasks, describeValidationAgents } from '../fixtures/validation-agents.ts';

const paper = allTasks.filter(({ file }) => file.suites.includes('paper'));
for (const task of paper) describeValidationAgents(task);
