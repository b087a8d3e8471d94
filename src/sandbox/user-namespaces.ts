import { readFileSync } from 'node:fs';

const bubblewrapProfile = [
  'abi <abi/4.0>,',
  'include <tunables/global>',
  'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }',
];

/** What keeps this user from making user namespaces, and the step that allows it; null if nothing is known to. */
export function userNamespaceObstacle(): { reason: string; fix: string } | null {
  if (readSetting('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    const lines = bubblewrapProfile.map((line) => `'${line}'`).join(' ');
    return {
      reason:
        'AppArmor keeps ordinary programs from using user namespaces (kernel.apparmor_restrict_unprivileged_userns = 1)',
      fix: `printf '%s\\n' ${lines} | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`,
    };
  }
  if (readSetting('kernel/unprivileged_userns_clone') === '0') {
    return {
      reason: 'user namespaces are off for ordinary users (kernel.unprivileged_userns_clone = 0)',
      fix: 'echo kernel.unprivileged_userns_clone=1 | sudo tee /etc/sysctl.d/60-userns.conf && sudo sysctl --system',
    };
  }
  if (readSetting('user/max_user_namespaces') === '0') {
    return {
      reason: 'user namespaces are off (user.max_user_namespaces = 0)',
      fix: 'echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-userns.conf && sudo sysctl --system',
    };
  }
  return null;
}

/** What to do about an error message of bubblewrap. */
export function userNamespaceHint(message: string): string {
  const aboutNamespaces = /namespace|uid map|Operation not permitted|Permission denied|loopback/i.test(
    message,
  );
  const obstacle = aboutNamespaces ? userNamespaceObstacle() : null;
  return obstacle?.fix ?? 'run `mlab doctor` to see what the sandbox needs';
}

function readSetting(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return null;
  }
}
