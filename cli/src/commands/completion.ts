import type { Command } from 'commander';
import { complete } from '../completion/complete.ts';
import { knownNames } from '../completion/known-names.ts';
import { type Shell, scripts, shells } from '../completion/scripts.ts';
import { splitLine, type Word } from '../completion/split-line.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { createOutput } from '../terminal/output.ts';
import { plain } from '../terminal/safe-text.ts';
import { argumentOf } from '../terminal/suggest.ts';

/** Characters that bash does not take literally inside an open quote. Names are those that other people choose. */
const special = { '"': /["$`\\!]/, "'": /'/ } as const;

/**
 * A word in bash's notation: inside the open quote, or with backslashes.
 * @param value the whole word
 * @param word what is typed of it
 * @returns null for what cannot be written inside the open quote as it is
 */
function forBash(value: string, { text, quote }: Word): string | null {
  if (quote !== '') return special[quote].test(value) ? null : value;
  // Bash starts a new word after = and :, and replaces only what follows the last one.
  const from = Math.max(text.lastIndexOf('='), text.lastIndexOf(':')) + 1;
  return value.slice(from).replaceAll(/[^\w@%+=:,./-]/g, '\\$&');
}

async function answer(program: Command, shell: Shell, line: string): Promise<void> {
  const words = splitLine(line);
  const last = words.at(-1) ?? { text: '', quote: '' };
  const candidates = await complete(
    program,
    words.slice(1).map(({ text }) => text),
    (kind) => knownNames(kind, currentProcess().env),
  );
  const output = createOutput(currentProcess().stdout, currentProcess().env);
  for (const { value, description } of candidates) {
    if (plain(value) !== value) continue;
    const word = shell === 'bash' ? forBash(value, last) : `${value}\t${plain(description).slice(0, 80)}`;
    if (word !== null) await output.line(word);
  }
}

export function addCompletionCommands(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell: source <(envarium completion bash)')
    .addArgument(argumentOf('<shell>', 'shell to complete in', shells))
    .helpOption('-h, --help', 'show help')
    .action((shell: Shell) =>
      createOutput(currentProcess().stdout, currentProcess().env).write(scripts[shell]),
    );
  program
    .command('__complete', { hidden: true })
    .argument('<shell>')
    .argument('<line>')
    .action((shell: Shell, line: string) => answer(program, shell, line));
}
