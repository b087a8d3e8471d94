import type { Measurement } from '../benchmark.ts';

/** The results of all kills. */
export class Tally {
  kills = 0;
  runs = 0;
  lostSteps = 0;
  failedResumes = 0;
  storeProblems = 0;
  tornLines = 0;
  differing = 0;
  readonly leftOver: string[] = [];
  /** How often processes were doing what when they were killed. */
  readonly doing = new Map<string, number>();

  /** @param doing several things if branches are worked on concurrently */
  killed(doing: readonly string[]): void {
    this.kills += 1;
    for (const one of new Set(doing)) this.doing.set(one, (this.doing.get(one) ?? 0) + 1);
  }

  measurements(): Measurement[] {
    const none = { unit: '', atMost: 0 };
    const common = { unit: '', atMost: null };
    const phases = [...this.doing].sort(([, one], [, other]) => other - one);
    return [
      { what: 'kills', value: this.kills, ...common, note: `of ${this.runs} runs` },
      ...phases.map(([doing, value]) => ({
        ...{ what: `of them while: ${doing}`, value, ...common },
        note: '',
      })),
      {
        ...{ what: 'finished steps lost or changed', value: this.lostSteps, ...none },
        note: 'told on standard output before the kill and not, or not as before, in the trace after it',
      },
      { what: 'runs that did not resume', value: this.failedResumes, ...none, note: '' },
      {
        ...{ what: 'problems that the store’s check found', value: this.storeProblems, ...none },
        note: 'after every kill',
      },
      {
        ...{ what: 'torn last lines', value: this.tornLines, ...common },
        note: 'cut off and told when the run is resumed',
      },
      {
        ...{ what: 'left over', value: this.leftOver.length, ...none },
        note: 'processes after each kill; files of runs that have ended; in the end mounts, loop devices, control groups, temporary folders',
      },
      {
        ...{ what: 'runs that ended otherwise', value: this.differing, ...none },
        note: 'than an undisturbed one: actions of all branches, the selected branch, grades, calls and money, by trace and record',
      },
    ];
  }
}
