/** Finds the reason of a failure in what Pulumi has printed. */
import { passphraseFileVariable, passphraseVariable } from '#protocol/tools/pulumi/variables.ts';

/** Only this much of the output's end is searched: diagnostics are short. */
const searchedCharacters = 262_144;
const longestMessage = 4096;

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

/** The lines that belong to an error: up to an empty one, and the place in the code behind it. */
function messageAt(lines: readonly string[], start: number): string {
  const end = lines.findIndex((line, at) => at > start && (line.trim() === '' || /^\s*error: /i.test(line)));
  const body = lines.slice(start, end === -1 ? undefined : Math.min(end, start + 8));
  const place = end === -1 ? undefined : /^\s*on (\S+) line (\d+)/.exec(lines[end + 1] ?? '');
  const text = body.map((line) => line.trim()).join('\n');
  return place ? `${text} (${place[1]}, line ${place[2]})` : text;
}

/**
 * The last error that Pulumi has printed, with what to do about it.
 * @returns null if there is none
 */
export function lastPulumiDiagnostic(output: string): string | null {
  const lines = plain(output.slice(-searchedCharacters)).split(/\r?\n/);
  const errors = lines.flatMap((line, at) => (/^\s*error: \S/i.test(line) ? [at] : []));
  const real = errors.findLast((at) => !summary.test(lines[at]?.trim() ?? '')) ?? errors.at(-1);
  if (real === undefined) return null;
  const message = withRemedy(
    messageAt(lines, real)
      .replace(/^error: /i, '')
      .replace(/\.$/, ''),
  );
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}
