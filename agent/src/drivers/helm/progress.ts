/** Progress of helm, from the lines that it writes with `--debug`. */

import { providerName } from '../cluster/changes.ts';
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';

/** No line about an object is longer. */
const longestLineBytes = 2048;

const mark = /^\w+\.go:\d+: .* \[debug\] /;

const forms: readonly (readonly [pattern: RegExp, action: ProgressEvent['action']])[] = [
  [/^Created a new (?<type>\w+) called "(?<name>[^"]+)" in (?<namespace>\S*)/, 'create'],
  [/^Patch (?<type>\w+) "(?<name>[^"]+)" in namespace (?<namespace>\S*)/, 'update'],
  [/^Deleting (?<type>\w+) "(?<name>[^"]+)" in namespace (?<namespace>\S*?)\.\.\./, 'delete'],
  [/^Starting delete for "(?<name>[^"]+)" (?<type>\w+)/, 'delete'],
];

function eventOf(line: string): ProgressEvent | null {
  if (!mark.test(line)) return null;
  const text = line.replace(mark, '');
  for (const [pattern, action] of forms) {
    const { type = '', name = '', namespace = '' } = pattern.exec(text)?.groups ?? {};
    if (name === '') continue;
    const address = [type, ...(namespace === '' ? [] : [namespace]), name].join('/');
    return { address, provider: providerName, type, name, moduleName: namespace, status: 'done', action };
  }
  return null;
}

/**
 * Creates a reader of the log of an upgrade or uninstallation. A first installation does not name its
 * objects.
 */
export function helmProgress(): ProgressReader {
  return progressOfLines(longestLineBytes, eventOf);
}
