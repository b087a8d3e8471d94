import { expect, test } from 'vitest';
import { platformObstacle } from './platform.ts';

test('Linux can confine agents, also in WSL 2', () => {
  expect(platformObstacle('linux', '6.8.0-45-generic')).toBeNull();
  expect(platformObstacle('linux', '5.15.153.1-microsoft-standard-WSL2')).toBeNull();
});

test('other systems get one line that says what to do', () => {
  const fixes = [
    platformObstacle('linux', '4.4.0-19041-Microsoft'),
    platformObstacle('darwin', '24.1.0'),
    platformObstacle('win32', '10.0.22631'),
    platformObstacle('freebsd', '14.1'),
  ].map((obstacle) => obstacle?.fix);
  expect(fixes).toEqual([
    expect.stringContaining('wsl --set-version'),
    expect.stringContaining('Lima'),
    expect.stringContaining('wsl --install'),
    expect.stringContaining('Linux'),
  ]);
});
