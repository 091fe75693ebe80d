/**
 * Arguments that users know from the command line of AWS, as one text for each command, and the variables that they
 * are in. The requests are made by a program of ours, which knows those that are listed here.
 */
import { splitArguments } from '../inputs/terraform-arguments.ts';

const prefix = 'ENVARIUM_CF_CLI_ARGS_';

/** Options with their values by name, without the two dashes. */
export type StackOptions = Readonly<Partial<Record<OptionName, readonly string[]>>>;

type StackCommand = 'deploy' | 'delete';

interface StackOption {
  readonly commands: readonly StackCommand[];
  readonly values: 'one' | 'many' | 'none';
  /** Pattern of each value. */
  readonly pattern?: RegExp;
}

const arn = /^arn:[\w-]+:[\w-]+:[\w-]*:\d*:.+$/;

const options = {
  capabilities: { commands: ['deploy'], values: 'many', pattern: /^CAPABILITY_[A-Z_]+$/ },
  'disable-rollback': { commands: ['deploy'], values: 'none' },
  'kms-key-id': { commands: ['deploy'], values: 'one' },
  'notification-arns': { commands: ['deploy'], values: 'many', pattern: arn },
  'retain-resources': { commands: ['delete'], values: 'many', pattern: /^[A-Za-z0-9]{1,255}$/ },
  'role-arn': { commands: ['deploy', 'delete'], values: 'one', pattern: arn },
  's3-bucket': { commands: ['deploy'], values: 'one' },
  's3-prefix': { commands: ['deploy'], values: 'one' },
  tags: { commands: ['deploy'], values: 'many', pattern: /^[^=]+=/ },
} as const satisfies Readonly<Record<string, StackOption>>;
type OptionName = keyof typeof options;

const byVariables = 'variables of the environment are the parameters, see ENVARIUM_CF_PARAM_';

/** Why well-known options are not among those that are allowed. */
const reasons: Readonly<Record<string, string>> = {
  'stack-name': "the stack's name is the workspaceName",
  'template-file': "the file is the template's fileName",
  'template-body': "the file is the template's fileName",
  'template-url': "the file is the template's fileName",
  'parameter-overrides': byVariables,
  parameters: byVariables,
  'no-execute-changeset': 'the phase of the deployment determines it',
  'fail-on-empty-changeset': 'a deployment without changes succeeds',
  'no-fail-on-empty-changeset': 'a deployment without changes succeeds anyway',
  'force-upload': 'templates are uploaded where they have to be',
  profile: 'the credentials are those of the environment, or the variable AWS_PROFILE',
  region: 'use the variable AWS_REGION',
  'endpoint-url': 'use the variable AWS_ENDPOINT_URL_CLOUDFORMATION',
  output: 'the run reads the answers',
  query: 'the run reads the answers',
};

/** Names of commands as the variables have them, in any case. */
const commandNames: Readonly<Record<string, StackCommand>> = {
  deploy: 'deploy',
  create_change_set: 'deploy',
  delete_stack: 'delete',
};

/** The command that a variable's options are for; undefined: the variable is for none. */
function commandOf(name: string): StackCommand | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const word = name.slice(prefix.length).toLowerCase().replaceAll('-', '_');
  return Object.hasOwn(commandNames, word) ? commandNames[word] : undefined;
}

function optionOf(name: string, command: StackCommand): StackOption | undefined {
  const option: StackOption | undefined = Object.hasOwn(options, name)
    ? options[name as OptionName]
    : undefined;
  return option?.commands.includes(command) === true ? option : undefined;
}

function refusalOf(name: string, command: StackCommand): string {
  const allowed = Object.keys(options).filter((each) => optionOf(each, command) !== undefined);
  const list = `remove it (allowed are ${allowed.map((each) => `--${each}`).join(', ')})`;
  const why = Object.hasOwn(reasons, name) ? `, because ${reasons[name]}` : '';
  return `${/^[a-z][a-z0-9-]{0,40}$/.test(name) ? `--${name}` : 'one of its options'} is not allowed${why}; ${list}`;
}

/** @throws Error with a sentence without its subject, and without any value */
function readOptions(text: string, command: StackCommand): StackOptions {
  const found: Partial<Record<OptionName, string[]>> = {};
  let current: { readonly name: string; readonly option: StackOption; readonly values: string[] } | null =
    null;
  for (const word of splitArguments(text)) {
    if (word.startsWith('--')) {
      const [name = '', ...rest] = word.slice(2).split('=');
      const option = optionOf(name, command);
      if (option === undefined) throw new Error(refusalOf(name, command));
      const values = rest.length === 0 ? [] : [rest.join('=')];
      current = { name, option, values };
      found[name as OptionName] = values;
    } else if (current === null) throw new Error('one of its words does not begin with --');
    else current.values.push(word);
    checkValues(current);
  }
  for (const [name, values] of Object.entries(found))
    if (optionOf(name, command)?.values !== 'none' && values.length === 0)
      throw new Error(`--${name} needs a value`);
  return found;
}

function checkValues(current: {
  readonly name: string;
  readonly option: StackOption;
  readonly values: string[];
}) {
  const { name, option, values } = current;
  const most = { none: 0, one: 1, many: Number.POSITIVE_INFINITY }[option.values];
  if (values.length > most) throw new Error(`--${name} takes ${most === 0 ? 'no value' : 'one value'}`);
  const last = values.at(-1);
  if (last !== undefined && option.pattern?.test(last) === false)
    throw new Error(`a value of --${name} has the wrong form`);
}

/** Says why a variable with arguments cannot be used, or null if it can; any other variable can. */
export function stackArgumentsProblem(name: string, value: string): string | null {
  if (!name.startsWith(prefix)) return null;
  const command = commandOf(name);
  if (command === undefined)
    return `${name}: runs have no such command; options can be in ${prefix}DEPLOY and ${prefix}DELETE_STACK`;
  try {
    readOptions(value, command);
    return null;
  } catch (error) {
    return `${name}: ${(error as Error).message}`;
  }
}

/** The options of a command. @throws Error where a value was not checked by `stackArgumentsProblem` */
export function stackOptions(
  environment: Readonly<Record<string, string>>,
  command: StackCommand,
): StackOptions {
  const texts = Object.entries(environment).filter(([name]) => commandOf(name) === command);
  return Object.assign({}, ...texts.map(([, text]) => readOptions(text, command))) as StackOptions;
}
