import { allTasks, describeValidationAgents, oneOfEachKind } from '../fixtures/validation-agents.ts';

const others = allTasks.filter((task) => task.file.id !== 'digits' && !oneOfEachKind.includes(task));
for (const task of others) describeValidationAgents(task);
