/** For your own agents: `import … from 'mlagentbench/agent'`. See docs/how-to/write-an-agent.md. */
export type {
  ActionDescription,
  ArgumentDescription,
  Branch,
  Environment,
  GiveUpReason,
  ModelReply,
  StepResult,
  SubmissionSeen,
} from '../environment/index.ts';
export type {
  Action,
  ActionStatus,
  AgentOptions,
  Budget,
  Lesson,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  ModelTool,
  TaskBrief,
  ToolCall,
} from '../schema/index.ts';
export type { Agent, AgentContext } from './agent.ts';
export { budgetText } from './common/budget-text.ts';
export { choiceOption, wholeNumberOption } from './common/options.ts';
export { seededRandom } from './common/seeded-random.ts';
export { taskText } from './common/task-text.ts';
