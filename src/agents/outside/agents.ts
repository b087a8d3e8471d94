import { aide } from './aide.ts';
import { aider } from './aider.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { codexAcp } from './codex-acp.ts';
import { acp, command } from './command.ts';
import { geminiCli } from './gemini-cli.ts';
import { miniSweAgent } from './mini-swe-agent.ts';
import { opencode } from './opencode.ts';
import type { OutsideAgent } from './outside-agent.ts';
import { qwenCode } from './qwen-code.ts';

/** The agents that are programs of others, and any command of the user's. */
export const outsideAgents: readonly OutsideAgent[] = [
  aide,
  aider,
  claudeCode,
  codex,
  codexAcp,
  geminiCli,
  miniSweAgent,
  opencode,
  qwenCode,
  command,
  acp,
];

/** Why programs that people ask for are none of these. */
export const absentPrograms: ReadonlyMap<string, string> = new Map([
  ['goose', 'goose is in no registry of packages, so mlab can not install it'],
  ['openhands', 'OpenHands can not be installed without running code of its packages outside of the sandbox'],
]);
