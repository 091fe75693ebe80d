/** Words for state versions. Pure. */
import type { StateVersion } from '#contract/state/shapes.ts';

export const originWords: Readonly<Record<StateVersion['origin'], string>> = {
  run: 'a deployment',
  moved: 'a deployment, from the backend of the code',
  http: 'a tool outside of runs',
  import: 'an import',
  rollback: 'a rollback',
  promotion: 'a promotion',
};

const units = ['B', 'KB', 'MB', 'GB'] as const;

/** Such as "1.2 MB". */
export function sizeText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const number = bytes / 1000 ** power;
  return `${power === 0 || number >= 100 ? Math.round(number) : number.toFixed(1)} ${units[power]}`;
}

/** Name of a version for people: its serial, which grows. */
export function versionName({ serial, id }: Pick<StateVersion, 'serial' | 'id'>): string {
  return `serial ${serial} (${id.slice(-6)})`;
}
