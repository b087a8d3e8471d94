import { allTasks, describeValidationAgents } from '../fixtures/validation-agents.ts';

for (const task of allTasks.filter(({ file }) => file.id === 'digits')) describeValidationAgents(task);
