export type { ReplyFormat } from './labels.ts';
export { type ParsedReply, parseReply, type ReplyRepair } from './parse-reply.ts';
export type { ReplyProblem } from './problems.ts';
