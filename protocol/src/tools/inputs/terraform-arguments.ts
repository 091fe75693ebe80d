/**
 * Arguments that users add to the tools of the terraform family, as one text: how the tools split it, and
 * which arguments a run cannot take because they would move the state or the plan, change what a deployment
 * is, or hide its output.
 */

/**
 * Splits a text into words as both tools do with `TF_CLI_ARGS`: quotes and backslashes as a shell has them,
 * and nothing else of a shell.
 * @throws Error where a quote or a backslash is left open, or where a character would begin something that
 * only shells know
 */
export function splitArguments(text: string): string[] {
  const words: string[] = [];
  const pattern = /([ \t\r\n]+)|'([^']*)'|"((?:\\[^]|[^"\\])*)"|\\([^])|([^ \t\r\n'"\\;&|<>()`]+)|([^])/gu;
  let word: string | null = null;
  for (const [, space, single, double, escaped, plain, other] of text.matchAll(pattern)) {
    if (other !== undefined) throw new Error(problemOf(other));
    if (space !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + (single ?? double?.replaceAll(/\\([^])/gu, '$1') ?? escaped ?? plain ?? '');
    }
  }
  if (word !== null) words.push(word);
  return words;
}

function problemOf(character: string): string {
  if (character === '\\') return 'ends with a backslash';
  if (character === '"' || character === "'") return `has a ${character} that is not closed`;
  return `has a ${character} outside of quotes: no shell reads it, put it into single quotes`;
}

/** The inverse of `splitArguments`: one text of words, whatever they hold. */
export function joinArguments(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

/** One argument with its value. */
export interface Flag {
  /** With one dash. */
  readonly name: string;
  readonly value?: string;
  /** The next word would be its value, and there is none. */
  readonly needsValue?: true;
  /** The next word is its value and reads as an argument that sets a variable. */
  readonly isUnclear?: true;
}

/** Flags that have no value unless it is written after `=`, of all commands of both tools. */
const switches: ReadonlySet<string> = new Set(
  [
    ...['allow-deferral', 'auto-approve', 'backend', 'compact-warnings', 'concise', 'consolidate-errors'],
    ...['consolidate-warnings', 'destroy', 'detailed-exitcode', 'force-copy', 'get', 'h', 'help'],
    ...['ignore-remote-version', 'input', 'json', 'lock', 'migrate-state', 'no-color', 'or-create', 'raw'],
    ...['reconfigure', 'refresh', 'refresh-only', 'show-sensitive', 'suppress-forget-errors', 'upgrade'],
  ].map((name) => `-${name}`),
);

/** Whether an argument sets variables. */
export function isValueFlag({ name }: Flag): boolean {
  return name === '-var' || name === '-var-file';
}

/** Reads words as the tools do: a flag that is not a switch takes the next word, whatever it looks like. */
export function readFlags(words: readonly string[]): Flag[] {
  const flags: Flag[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (!word.startsWith('-')) continue;
    const { name, value } = flagOf(word);
    if (value !== undefined || switches.has(name))
      flags.push(value === undefined ? { name } : { name, value });
    else {
      index += 1;
      flags.push(withNextWord(name, words[index]));
    }
  }
  return flags;
}

function flagOf(word: string): Flag {
  const [, name = '', value] = /^-?(-[^=]*)(?:=([^]*))?$/.exec(word) ?? [];
  return value === undefined ? { name } : { name, value };
}

function withNextWord(name: string, next: string | undefined): Flag {
  if (next === undefined) return { name, needsValue: true };
  const isUnclear = next.startsWith('-') && isValueFlag(flagOf(next));
  return { name, value: next, ...(isUnclear ? { isUnclear } : {}) };
}

type TerraformVerb = string;
interface ArgumentRule {
  readonly why: string;
  /** Absent: for every verb. */
  readonly verbs?: readonly TerraformVerb[];
}

const movesState: ArgumentRule = { why: 'it moves the state or the plan file' };
const readsOutput: ArgumentRule = { why: "the run reads the tool's output", verbs: ['', 'plan', 'apply'] };
const isType: ArgumentRule = { why: 'the deployment type determines it', verbs: ['', 'plan', 'apply'] };

const refusedFlags: Readonly<Record<string, ArgumentRule>> = {
  '-state': movesState,
  '-state-out': movesState,
  '-backup': movesState,
  '-out': movesState,
  '-chdir': { why: "the folder is the environment's path" },
  '-json': readsOutput,
  '-json-into': readsOutput,
  '-destroy': isType,
  '-refresh-only': isType,
};

function flagProblem(word: string, verb: TerraformVerb): string | null {
  const [flag = '', value] = word.replace(/^--/, '-').split('=', 2);
  const rule = Object.hasOwn(refusedFlags, flag) ? refusedFlags[flag] : undefined;
  if (rule && (rule.verbs?.includes(verb) ?? true))
    return `${flag} is not allowed, because ${rule.why}; remove it`;
  // As Go reads a boolean.
  if (flag === '-backend' && /^(0|f|false)$/i.test(value ?? ''))
    return '-backend=false is not allowed, because nothing can be planned without a backend; remove it';
  return null;
}

/**
 * Says why arguments cannot be used, or null if they can.
 * @param verb the command that they are added to, empty for all
 * @returns a sentence without its subject, and without any value
 */
export function argumentsProblem(verb: TerraformVerb, text: string): string | null {
  let words: string[];
  try {
    words = splitArguments(text);
  } catch (error) {
    return (error as Error).message;
  }
  for (const word of words) {
    const problem = flagProblem(word, verb);
    if (problem !== null) return problem;
  }
  return valueProblem(readFlags(words));
}

/** Finds the variables that arguments set, even where a flag is unknown here. */
function valueProblem(flags: readonly Flag[]): string | null {
  const unclear = flags.find(({ isUnclear }) => isUnclear === true);
  if (unclear !== undefined)
    return `an argument that sets variables follows ${shownFlag(unclear)}: if ${shownFlag(unclear)} has a value, write it after =, otherwise move it to the end`;
  const open = flags.find((flag) => isValueFlag(flag) && flag.needsValue === true);
  return open === undefined ? null : `${open.name} needs a value`;
}

function shownFlag({ name }: Flag): string {
  return /^-[a-z][a-z-]{0,40}$/.test(name) ? name : 'another argument';
}
