/** Completion scripts of shells. Each calls the hidden command, and knows nothing about commands itself. */

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const bash = `# Completion of envarium for bash. Add to ~/.bashrc:  source <(envarium completion bash)
_envarium() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <("$1" __complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _envarium envarium envarium.mjs
`;

const zsh = `#compdef envarium envarium.mjs
# Completion of envarium for zsh. Add to ~/.zshrc after compinit:  source <(envarium completion zsh)
_envarium() {
  local -a values shown
  local value description
  while IFS=$'\\t' read -r value description; do
    values+=("$value")
    shown+=("\${value}\${description:+  -- $description}")
  done < <("\${words[1]}" __complete zsh "\${(j: :)words[1,CURRENT]}" 2>/dev/null)
  if (( \${#values} )); then compadd -l -d shown -a values; else _files; fi
}
compdef _envarium envarium envarium.mjs
`;

const fish = `# Completion of envarium for fish. Write to ~/.config/fish/completions/envarium.fish:  envarium completion fish >…
function __envarium_complete
    set -l words (commandline -opc)
    set -l line (string join -- ' ' (string escape -- $words))
    $words[1] __complete fish "$line "(commandline -ct) 2>/dev/null
end
complete -c envarium -f -a '(__envarium_complete)'
complete -c envarium.mjs -f -a '(__envarium_complete)'
`;

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
