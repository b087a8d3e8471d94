export type { ActionDescription, ArgumentDescription, Environment, StepResult } from './environment.ts';
