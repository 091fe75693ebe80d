/** dist/docs/cli-commands.md: the output of `--help` for every command, from the same declarations. */
import type { Command, Option } from 'commander';
import { createProgram } from './program.ts';

const isHidden = (command: Command) => command.name().startsWith('__') || command.name() === 'help';

/** A sentence of a table or paragraph. */
const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function optionRow(option: Option): string {
  const values = option.argChoices?.length ? ` One of: ${option.argChoices.join(', ')}.` : '';
  const fallback =
    option.defaultValue === undefined || option.negate ? '' : ` Default: ${String(option.defaultValue)}.`;
  return `| \`${option.flags.replaceAll('|', '\\|')}\` | ${sentence(`${option.description}.${values}${fallback}`)} |`;
}

/** Options that all commands share are listed once, at the top of the page. */
function ownOptions(command: Command, shared: ReadonlySet<string>): Option[] {
  return command.options.filter(({ flags, hidden }) => !hidden && !shared.has(flags));
}

function section(command: Command, shared: ReadonlySet<string>): string[] {
  const operands = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const options = ownOptions(command, shared);
  return [
    `## ${[pathOf(command).replace(/^envarium /, ''), ...operands].join(' ').replaceAll('<', '&lt;')}`,
    '',
    `${sentence(command.description())}.`,
    '',
    ...(options.length > 0 ? ['| Option | Meaning |', '|---|---|', ...options.map(optionRow), ''] : []),
  ];
}

function leavesOf(command: Command): Command[] {
  const below = command.commands.filter((each) => !isHidden(each));
  return below.length === 0 ? [command] : below.flatMap(leavesOf);
}

/** The page's text. */
export function commandsPage(): string {
  const program = createProgram();
  const shared = new Set(program.options.map(({ flags }) => flags));
  const groups = program.commands.filter((command) => !isHidden(command) && command.aliases().length > 0);
  return [
    '# Commands',
    '',
    'Generated from the declarations that `--help` shows. [The command line](../../docs/start/cli.md) explains how to use them.',
    '',
    ...groups.map((group) => `\`${group.name()}\` is also called \`${group.aliases().join('`, `')}\`.`),
    '',
    '| Option of all commands | Meaning |',
    '|---|---|',
    ...program.options.filter(({ long }) => long !== '--version').map(optionRow),
    '| `-h, --help` | Show help. |',
    '',
    ...leavesOf(program).flatMap((command) => section(command, shared)),
  ].join('\n');
}
