/** Which files of a folder a tool of the terraform family loads, and in which order. */

/** The file endings of one tool. */
export interface FileRules {
  /** Endings of configuration files, those that win over others of the same name first. */
  readonly endings: readonly string[];
  /** Ending of the override that puts the state into its place: no other file may win over it. */
  readonly overrideEnding: string;
}

export const terraformFiles: FileRules = { endings: ['.tf.json', '.tf'], overrideEnding: '.tf.json' };

/** OpenTofu passes over `x.tf` next to `x.tofu`, and over `x.tf.json` next to `x.tofu.json`. */
export const tofuFiles: FileRules = {
  endings: ['.tofu.json', '.tofu', '.tf.json', '.tf'],
  overrideEnding: '.tofu.json',
};

/** A configuration file's ending, empty for any other file and for hidden ones and an editor's. */
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
 * Files of a folder that the tool loads, in its order: overrides last, each kind by the bytes of its name.
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
