/** Finds the message about a failure in what Ansible prints. */
import { stripVTControlCharacters } from 'node:util';
import { failuresHeading } from './callback.ts';

const longestMessage = 4096;
/** Messages are at the end of the output. */
const searchedCharacters = 262_144;

function cut(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

/** What the plugin prints last, about the hosts that failed. */
function failedHosts(lines: readonly string[]): string | null {
  const start = lines.lastIndexOf(failuresHeading);
  if (start === -1) return null;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => !line.startsWith('  '));
  const block = (end === -1 ? rest : rest.slice(0, end)).map((line) => line.slice(2));
  return block.length === 0 ? null : block.join('\n').trim();
}

/** The last message of Ansible itself, such as one about syntax: `[ERROR]: …`, before 2.19 `ERROR! …`. */
function ownMessage(lines: readonly string[]): string | null {
  const start = lines.findLastIndex((line) => /^(\[ERROR\]: |ERROR! |ERROR: )/.test(line));
  if (start === -1) return null;
  const text = lines
    .slice(start)
    .join('\n')
    .replace(/^(\[ERROR\]: |ERROR! |ERROR: )/, '')
    .trim();
  return text.startsWith("couldn't resolve module/action")
    ? `${text}\n\nA module of a collection needs that collection in requirements.yml.`
    : text;
}

/** @returns null if there is no message */
export function lastAnsibleDiagnostic(output: string): string | null {
  const lines = stripVTControlCharacters(output.slice(-searchedCharacters)).split(/\r?\n/);
  const message = failedHosts(lines) ?? ownMessage(lines);
  return message === null ? null : cut(message);
}
