import { allTasks, describeValidationAgents } from '../fixtures/validation-agents.ts';

const others = allTasks.filter(({ file }) => file.id !== 'digits' && !file.suites.includes('paper'));
for (const task of others) describeValidationAgents(task);
