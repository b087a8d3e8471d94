/**
 * Makes the report of an experiment as `mlab report` does, and prints the cost on standard error. Arguments: folder of
 * experiments, name.
 */
import { performance } from 'node:perf_hooks';
import { main } from '../../src/cli/main.ts';
import type { ReportCost } from '../reports.ts';

const [folder = '', name = ''] = process.argv.slice(2);
const exitCode = await main(['report', name, '--dir', folder, '--json']);
const { user, system } = process.cpuUsage();
const cost: ReportCost = {
  exitCode,
  // Since the process was started.
  seconds: performance.now() / 1000,
  cpuSeconds: (user + system) / 1e6,
  peakBytes: process.resourceUsage().maxRSS * 1024,
};
process.stderr.write(`\n${JSON.stringify(cost)}\n`);
