/** A folder of one test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/**
 * Creates an empty folder, which is removed after the test.
 * @param name the beginning of its name
 * @returns its absolute path
 */
export function temporaryFolder(t: Pick<TestContext, 'after'>, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
