export type { ReplyFormat } from './labels.ts';
export { type ParsedReply, parseReply } from './parse-reply.ts';
export type { ReplyProblem } from './problems.ts';
