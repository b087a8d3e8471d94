import { aide } from './aide.ts';
import { aider } from './aider.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { codexAcp } from './codex-acp.ts';
import { acp, command } from './command.ts';
import { geminiCli } from './gemini-cli.ts';
import { goose } from './goose.ts';
import { miniSweAgent } from './mini-swe-agent.ts';
import { opencode } from './opencode.ts';
import { openhands } from './openhands.ts';
import type { OutsideAgent } from './outside-agent.ts';
import { qwenCode } from './qwen-code.ts';

/** The agents that are other people's programs, and any command of the user's. */
export const outsideAgents: readonly OutsideAgent[] = [
  aide,
  aider,
  claudeCode,
  codex,
  codexAcp,
  geminiCli,
  goose,
  miniSweAgent,
  opencode,
  openhands,
  qwenCode,
  command,
  acp,
];
