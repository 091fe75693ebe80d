/** Finds the message about a failure in what Ansible prints. */
import { stripVTControlCharacters } from 'node:util';
import { failuresHeading } from './callback.ts';

const longestMessage = 4096;
/** Messages are at the end of the output. */
const searchedCharacters = 262_144;

function cut(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

/** The lines that the plugin prints last, about the hosts that failed. */
function failedHostLines(lines: readonly string[]): string[] {
  const start = lines.lastIndexOf(failuresHeading);
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => !line.startsWith('  '));
  return (end === -1 ? rest : rest.slice(0, end)).map((line) => line.slice(2));
}

const errorMark = /^(\[ERROR\]: |ERROR! |ERROR: )/;
const warningMark = /^\[(?:DEPRECATION )?WARNING\]: /;
/** What galaxy prints besides, at another time than its messages. */
const otherOutput = /^(?:Starting galaxy |Process install |\[[A-Z ]+\]: )/;
/** An error that says nothing of its own: roles that were not installed are warnings ahead of it. */
const onlyAdvice = /^- you can use --ignore-errors/;
const notInstalled = /was NOT installed successfully|were NOT installed successfully/;

/** The last message of Ansible itself, such as one about syntax: `[ERROR]: …`, before 2.19 `ERROR! …`. */
function ownMessage(lines: readonly string[]): string | undefined {
  const start = lines.findLastIndex((line) => errorMark.test(line));
  if (start === -1) return undefined;
  const rest = lines.slice(start);
  const end = rest.findIndex((line) => otherOutput.test(line) && !errorMark.test(line));
  const text = rest
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .replace(errorMark, '')
    .trim();
  // The causes are in the first paragraph, too.
  const own = text.includes('<<< caused by >>>') ? (text.split('\n\n', 1)[0] ?? text) : text;
  return onlyAdvice.test(own) ? (rolesNotInstalled(lines) ?? own) : own;
}

function rolesNotInstalled(lines: readonly string[]): string | null {
  const found = lines.filter((line) => warningMark.test(line) && notInstalled.test(line));
  return found.length === 0 ? null : found.map((line) => line.replace(warningMark, '')).join('\n');
}

function withRemedy(text: string): string {
  if (text.startsWith("couldn't resolve module/action"))
    return `${text}\n\nA module of a collection needs that collection in requirements.yml.`;
  if (text.includes('<urlopen error'))
    return (
      `${text}\n\nThe server of roles and collections cannot be reached from this agent: check its network and proxy ` +
      '(HTTPS_PROXY, NO_PROXY), or name another server in ANSIBLE_GALAXY_SERVER or ansible.cfg.'
    );
  return text;
}

/** @returns null if there is no message */
export function lastAnsibleDiagnostic(output: string): string | null {
  const lines = stripVTControlCharacters(output.slice(-searchedCharacters)).split(/\r?\n/);
  const message = failedHostLines(lines).join('\n').trim() || ownMessage(lines);
  return message === undefined ? null : cut(withRemedy(message));
}
