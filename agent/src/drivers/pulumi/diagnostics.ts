/** Finds the reason of a failure in what Pulumi has printed. */

import { passphraseFileVariable, passphraseVariable } from '#protocol/tools/pulumi/variables.ts';
import { type DiagnosticFinding, errorsOf, reasonOf, warningsOf } from '../interface/diagnostics.ts';

/** Only this much of the output's end is searched: diagnostics are short. */
const searchedCharacters = 262_144;

/** Removes terminal sequences, and Pulumi's own form of them. */
function plain(text: string): string {
  return text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]|<\{%[^%]*%\}>/g, '');
}

/** Says nothing but that there was an error. */
const summary = /^error: ((update|preview|destroy|refresh|operation) failed|.*: no diagnostics)$/i;

const remedies: readonly (readonly [reason: RegExp, remedy: (found: RegExpExecArray) => string])[] = [
  [
    /incorrect passphrase/,
    () =>
      `${passphraseVariable} is not the passphrase that the secrets of the stack were encrypted with: set the variable to that one`,
  ],
  [
    /passphrase must be set with/,
    () => `set ${passphraseVariable} or ${passphraseFileVariable}: the stack has encrypted secrets`,
  ],
  [
    /no language plugin '?pulumi-language-([\w-]+)/,
    ([, language = '']) =>
      `programs in ${language} need pulumi-language-${language} next to pulumi or on the PATH: install Pulumi on the agent's machine`,
  ],
  [
    /no resource plugin '?(pulumi-resource-[\w-]+)/,
    ([, plugin = '']) =>
      `install ${plugin} on the PATH of the agent's machine, or set PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION to false so that runs download plugins`,
  ],
  [
    /missing configuration value '([^']+)'/,
    ([, key = '']) => `add a variable of type 1 (IaC input) named ${key}, or commit the value`,
  ],
  [
    /stack is currently locked/,
    () => 'wait until the other run has ended; if it was killed, run "pulumi cancel" with the same backend',
  ],
];

function withRemedy(message: string): string {
  for (const [reason, remedy] of remedies) {
    const found = reason.exec(message);
    if (found !== null) return `${message}. ${remedy(found)}`;
  }
  return message;
}

const endOfMessage = /^\s*(?:$|(?:error|warning): )|^(?:Previewing|Updating|Refreshing|Destroying) /i;

/** The lines of an error or a warning: up to an empty one, and the place in the code behind it. */
function messageAt(lines: readonly string[], start: number): string {
  let end = start + 1;
  while (end < lines.length && !endOfMessage.test(lines[end] ?? '')) end += 1;
  const body = lines.slice(start, Math.min(end, start + 8));
  const place = /^\s*on (\S+) line (\d+)/.exec(lines[end + 1] ?? '');
  const text = body.map((line) => line.trim()).join('\n');
  return place ? `${text} (${place[1]}, line ${place[2]})` : text;
}

function errorAt(lines: readonly string[], at: number): string {
  return withRemedy(
    messageAt(lines, at)
      .replace(/^error: /i, '')
      .replace(/\.$/, ''),
  );
}

/** All errors, without those that only say that there were others, and all warnings. */
export function pulumiDiagnostics(output: string): DiagnosticFinding[] {
  const lines = plain(output.slice(-searchedCharacters)).split(/\r?\n/);
  const all = lines.flatMap((line, at) => (/^\s*error: \S/i.test(line) ? [at] : []));
  const real = all.filter((at) => !summary.test(lines[at]?.trim() ?? ''));
  const errors = (real.length > 0 ? real : all.slice(-1)).map((at) => errorAt(lines, at));
  const warnings = lines.flatMap((line, at) =>
    /^\s*warning: \S/i.test(line) ? [messageAt(lines, at).replace(/^warning: /i, '')] : [],
  );
  return [...errorsOf(errors), ...warningsOf(warnings)];
}

/** The first error, with what to do about it, and how many more there are. @returns null if there is none */
export function pulumiReason(output: string): string | null {
  return reasonOf(pulumiDiagnostics(output));
}
