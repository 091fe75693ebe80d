/** Finds the errors and warnings in what Ansible prints. */
import { stripVTControlCharacters } from 'node:util';
import {
  cutText,
  type DiagnosticFinding,
  errorsOf,
  type FirstTexts,
  firstTexts,
  reasonOf,
  warningsOf,
} from '../interface/diagnostics.ts';
import { failuresHeading } from './callback.ts';

/** Messages are at the end of the output. */
const searchedCharacters = 262_144;

const errorMark = /^(\[ERROR\]: |ERROR! |ERROR: )/;
const warningMark = /^\[(?:DEPRECATION )?WARNING\]: /;
/** Other output of galaxy, at another time than its messages. */
const otherOutput = /^(?:Starting galaxy |Process install |\[[A-Z ]+\]: |E(?:RROR!|RROR:) )/;
/** End of a warning, which Ansible prints at any time. Before 2.19, its lines are wrapped. */
const afterWarning = /^(?:$|(?:PLAY|TASK|RUNNING HANDLER) |(?:ok|changed|skipping|failed|fatal|included): )/;
/** Of what follows from a failure. */
const mostAdvice = 3;
/** An error that says nothing of its own: roles that were not installed are warnings ahead of it. */
const onlyAdvice = /^- you can use --ignore-errors/;
const notInstalled = /(?:was|were)\s+NOT\s+installed\s+successfully/;
/** Printed for each task that fails, also for those whose failure is ignored or rescued. */
const ofTask = /^Task failed\b/;

function linesOf(output: string): string[] {
  return stripVTControlCharacters(output.slice(-searchedCharacters)).split(/\r?\n/);
}

/** Last message of the plugin, about the hosts that failed. */
interface FailedHosts {
  /** A text for each. */
  readonly hosts: readonly string[];
  /** Number of further ones. */
  readonly unlisted: number;
  /** Consequence for all of them. */
  readonly advice: readonly string[];
}

function failedHosts(lines: readonly string[]): FailedHosts {
  const start = lines.lastIndexOf(failuresHeading);
  const rest = start === -1 ? [] : lines.slice(start + 1);
  const end = rest.findIndex((line) => !line.startsWith('  '));
  const hosts: string[] = [];
  const advice: string[] = [];
  let unlisted = 0;
  for (const line of end === -1 ? rest : rest.slice(0, end)) {
    const more = /^ {2}and (\d+) more hosts$/.exec(line)?.[1];
    if (more !== undefined) unlisted = Number(more);
    else if (line.startsWith('    ')) hosts.push(`${hosts.pop() ?? ''}\n${line.slice(2)}`);
    else if (/ (?:failed|could not be reached) in task "/.test(line)) hosts.push(line.slice(2));
    else if (advice.length < mostAdvice) advice.push(line.slice(2));
  }
  return { hosts, unlisted, advice };
}

/** The texts that begin with a mark, each with the lines that follow, up to one that is not its own. */
function markedTexts(lines: readonly string[], mark: RegExp, isOther: (line: string) => boolean): string[] {
  const found: string[][] = [];
  let isOpen = false;
  for (const line of lines) {
    const isFirst = mark.test(line);
    isOpen = isFirst || (isOpen && !isOther(line));
    if (isFirst) found.push([line.replace(mark, '')]);
    else if (isOpen) found.at(-1)?.push(line);
  }
  return found.map((each) => each.join('\n').trim());
}

/** The messages of Ansible itself, such as one about syntax: `[ERROR]: …`, before 2.19 `ERROR! …`. */
function ownMessages(lines: readonly string[]): string[] {
  const texts = markedTexts(lines, errorMark, (line) => otherOutput.test(line)).map(withoutCauses);
  const ofAnsible = texts.filter((text) => !ofTask.test(text));
  return withRoles(ofAnsible.length > 0 ? ofAnsible : texts, lines);
}

/** With the roles that were not installed, once, in the place of the first advice about them. */
function withRoles(texts: readonly string[], lines: readonly string[]): string[] {
  const place = texts.findIndex((text) => onlyAdvice.test(text));
  const roles = place === -1 ? [] : warningsIn(lines).filter((text) => notInstalled.test(text));
  if (roles.length === 0) return [...texts];
  return texts.flatMap((text, at) => (at === place ? roles : onlyAdvice.test(text) ? [] : [text]));
}

/** The warnings, with all of their lines. */
function warningsIn(lines: readonly string[]): string[] {
  return markedTexts(lines, warningMark, isAfterWarning);
}

function isAfterWarning(line: string): boolean {
  return line === failuresHeading || otherOutput.test(line) || afterWarning.test(line);
}

/** The causes are in the first paragraph, too. */
function withoutCauses(text: string): string {
  return text.includes('<<< caused by >>>') ? (text.split('\n\n', 1)[0] ?? text) : text;
}

function withRemedy(text: string): string {
  if (text.startsWith("couldn't resolve module/action"))
    return `${text}\n\nA module of a collection needs that collection in requirements.yml.`;
  if (/<urlopen\s+error/.test(text))
    return (
      `${text}\n\nThe server of roles and collections cannot be reached from this agent: check its network and proxy ` +
      '(HTTPS_PROXY, NO_PROXY), or name another server in ANSIBLE_GALAXY_SERVER or ansible.cfg.'
    );
  return text;
}

/** The first errors of Ansible itself, with what to do about them. */
function ownErrors(lines: readonly string[]): FirstTexts {
  const { texts, unlisted } = firstTexts(ownMessages(lines));
  return { texts: texts.map(withRemedy), unlisted };
}

/** The first failed host or else error of Ansible itself, and how many more there are. @returns null if there is none */
export function ansibleReason(output: string): string | null {
  const lines = linesOf(output);
  const { hosts, unlisted, advice } = failedHosts(lines);
  if (hosts.length === 0) {
    const own = ownErrors(lines);
    return reasonOf(errorsOf(own.texts), own.unlisted);
  }
  return cutText([reasonOf(errorsOf(hosts), unlisted), ...advice].join('\n'));
}

/** Errors of each host, or else those of Ansible itself, and its warnings. */
export function ansibleDiagnostics(output: string): DiagnosticFinding[] {
  const lines = linesOf(output);
  const { hosts } = failedHosts(lines);
  const errors = hosts.length > 0 ? hosts : ownErrors(lines).texts;
  return [...errorsOf(errors), ...warningsOf(warningsIn(lines))];
}
