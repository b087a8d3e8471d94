import { oneOf } from '../one-of.ts';
import type { Verb } from '../verb.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

const scripts: Record<(typeof shells)[number], string> = {
  bash: `_mlab() {
  COMPREPLY=()
  local line
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done \\
    < <(mlab completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _mlab mlab`,
  zsh: `#compdef mlab
_mlab() {
  local line
  local -a found
  while IFS= read -r line; do found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}"); done \\
    < <(mlab completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe -V mlab found; else _files; fi
}
compdef _mlab mlab`,
  fish: `function __mlab_complete
  set -l found (mlab completion fish -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    string join \\n -- $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c mlab -f -a '(__mlab_complete)'`,
};

export const completion: Verb = {
  onlyReads: true,
  arguments: [{ name: '<shell>', description: shells.join(', '), choices: shells }],
  flags: [],
  details:
    'With the script, Tab completes commands, flags, and the names of tasks, agents, experiments and runs.',
  examples: [
    ['mlab completion fish > ~/.config/fish/completions/mlab.fish', 'fish'],
    ["echo 'source <(mlab completion bash)' >> ~/.bashrc", 'bash, from the next shell on'],
    ["echo 'source <(mlab completion zsh)' >> ~/.zshrc", 'zsh, after compinit'],
  ],
  async run(_context, [shell = '']) {
    const script = scripts[oneOf('shell', shells, shell)];
    return { text: script, json: { shell, script } };
  },
};
