/** Completion of the next word, according to commander's commands, options and lists of values. */
import type { Argument, Command, Option } from 'commander';
import type { CompletionCandidate } from './candidate.ts';
import type { KnownNames } from './known-names.ts';

/** Returns names of a kind; none if the service does not respond quickly. */
export type AskNames = (kind: keyof KnownNames) => Promise<readonly CompletionCandidate[]>;

const kindOfPlaceholder: Readonly<Record<string, keyof KnownNames>> = {
  environment: 'environments',
  project: 'projects',
  parent: 'projects',
  agent: 'agents',
};

const placeholder = (flags: string) => /[<[]([\w-]+)(?:\.\.\.)?[>\]]/.exec(flags)?.[1] ?? '';

function isHidden(command: Command): boolean {
  return command.name().startsWith('__');
}

function subcommandOf(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}

function optionOf(command: Command, word: string): Option | undefined {
  for (let each: Command | null = command; each; each = each.parent) {
    const found = each.options.find(({ short, long }) => word === short || word === long);
    if (found) return found;
  }
  return undefined;
}

const takesValue = (option: Option) => option.required || option.optional;

/** Meaning of the words before the last one: the command, the number of operands, and an option without its value. */
interface WordPosition {
  command: Command;
  operands: number;
  due: Option | undefined;
  isPastDashes: boolean;
}

function positionOf(program: Command, words: readonly string[]): WordPosition {
  const position: WordPosition = { command: program, operands: 0, due: undefined, isPastDashes: false };
  for (const word of words) {
    if (position.due) position.due = undefined;
    else if (position.isPastDashes) position.operands++;
    else if (word === '--') position.isPastDashes = true;
    else if (word.startsWith('-')) {
      const option = word.includes('=') ? undefined : optionOf(position.command, word);
      if (option && takesValue(option)) position.due = option;
    } else {
      const next = position.operands === 0 ? subcommandOf(position.command, word) : undefined;
      if (next) position.command = next;
      else position.operands++;
    }
  }
  return position;
}

async function valuesOf(
  one: Option | Argument,
  name: string,
  ask: AskNames,
): Promise<readonly CompletionCandidate[]> {
  if (one.argChoices?.length) return one.argChoices.map((value) => ({ value, description: '' }));
  const kind = kindOfPlaceholder[name];
  return kind === undefined ? [] : ask(kind);
}

function optionsOf(command: Command): CompletionCandidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

function commandsOf(command: Command): CompletionCandidate[] {
  return command.commands
    .filter((each) => !isHidden(each))
    .map((each) => ({ value: each.name(), description: each.description() }));
}

/**
 * Candidates for the last word.
 * @param program all commands
 * @param words after the name of the program; the last one is incomplete
 * @returns candidates that start with it; none for files and free text
 */
export async function complete(
  program: Command,
  words: readonly string[],
  ask: AskNames,
): Promise<CompletionCandidate[]> {
  const last = words.at(-1) ?? '';
  const { command, operands, due, isPastDashes } = positionOf(program, words.slice(0, -1));
  const beginning = (all: readonly CompletionCandidate[], start: string) =>
    all.filter(({ value }) => value.startsWith(start));
  if (due) return beginning(await valuesOf(due, placeholder(due.flags), ask), last);
  if (!isPastDashes && last.startsWith('-')) {
    const at = last.indexOf('=');
    const option = at < 0 ? undefined : optionOf(command, last.slice(0, at));
    if (!option) return beginning(optionsOf(command), last);
    const values = await valuesOf(option, placeholder(option.flags), ask);
    return beginning(
      values.map(({ value, description }) => ({ value: `${last.slice(0, at + 1)}${value}`, description })),
      last,
    );
  }
  if (operands === 0 && !isPastDashes && command.commands.length > 0)
    return beginning(commandsOf(command), last);
  const { registeredArguments } = command;
  const argument = registeredArguments[operands] ?? registeredArguments.findLast(({ variadic }) => variadic);
  return argument ? beginning(await valuesOf(argument, argument.name(), ask), last) : [];
}
