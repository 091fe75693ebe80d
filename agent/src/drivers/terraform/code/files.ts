/** Determines which files of a folder a tool of the terraform family loads, and in which order. */

/** The file extensions of one tool. */
export interface FileRules {
  /** Extensions of configuration files; those that take precedence for the same name come first. */
  readonly endings: readonly string[];
  /** Extension of the state override: no other file may take precedence over it. */
  readonly overrideEnding: string;
}

export const terraformFiles: FileRules = { endings: ['.tf.json', '.tf'], overrideEnding: '.tf.json' };

/** OpenTofu ignores `x.tf` next to `x.tofu`, and `x.tf.json` next to `x.tofu.json`. */
export const tofuFiles: FileRules = {
  endings: ['.tofu.json', '.tofu', '.tf.json', '.tf'],
  overrideEnding: '.tofu.json',
};

/** Whether it has values of variables. */
export function isVariablesFile(name: string): boolean {
  return /\.tfvars(\.json)?$/.test(name);
}

/** A configuration file's extension; empty for other files, hidden files and an editor's backups. */
export function endingOf(name: string, { endings }: FileRules): string {
  if (name.startsWith('.') || name.endsWith('~') || (name.startsWith('#') && name.endsWith('#'))) return '';
  return endings.find((ending) => name.endsWith(ending)) ?? '';
}

export function isOverride(name: string, rules: FileRules): boolean {
  const ending = endingOf(name, rules);
  return ending !== '' && /(^|_)override$/.test(name.slice(0, -ending.length));
}

/** The order in which the tools read names. */
export function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function isPassedOver(name: string, names: ReadonlySet<string>, rules: FileRules): boolean {
  const winner = name.replace(/\.tf(\.json)?$/, '.tofu$1');
  return winner !== name && rules.endings.includes('.tofu') && names.has(winner);
}

/**
 * The files of a folder that the tool loads, in its order: overrides last, otherwise by the bytes of their
 * names.
 */
export function configurationFiles(names: readonly string[], rules: FileRules): string[] {
  const all = new Set(names);
  const files = names
    .filter((name) => endingOf(name, rules) !== '' && !isPassedOver(name, all, rules))
    .sort(byBytes);
  return [
    ...files.filter((name) => !isOverride(name, rules)),
    ...files.filter((name) => isOverride(name, rules)),
  ];
}

/** Of a name that is not UTF-8, which Node reads and cannot open. */
const replacement = '\uFFFD';

/** @throws Error that shows the name of a file that the tools load and we cannot read */
export function requireReadableNames(names: readonly string[]): void {
  const bad = names.find((name) => name.includes(replacement));
  if (bad !== undefined) throw new Error(`${bad}: the name of this file is not UTF-8: rename it`);
}
