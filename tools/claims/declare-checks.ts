/** Declares the tests that check what other tests claim (`covers`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repositoryFiles } from '../tree/repository.ts';
import { type ClaimVerdict, checkClaims, claimsOf, nameOf } from './check-claims.ts';

/**
 * Claims that cannot be checked so, with the reason, as in `'server/src/a.test.ts Environment.status'`; of an operation as
 * such, `'… deployEnvironment.'`. An entry that is not needed is a failure.
 */
const exceptions: Readonly<Record<string, string>> = {};

function problemOf(file: string, { claim, problem, skip }: ClaimVerdict): string | null {
  if (skip !== undefined) return null;
  const reason = exceptions[`${file} ${claim.subject}.${claim.field}`];
  if (reason === undefined) return problem && `${nameOf(claim)}: ${problem}`;
  return problem === null ? `${nameOf(claim)} needs no exception` : null;
}

/**
 * One test for each test file of a room with claims; `CLAIMS_FILES`, the beginnings of paths separated by commas, selects some.
 */
export function declareChecks(room: string): void {
  const chosen = process.env.CLAIMS_FILES?.split(',') ?? [''];
  const testFiles = repositoryFiles().filter((file) => file.endsWith('.test.ts'));
  const unknown = chosen.find((beginning) => !testFiles.some((file) => file.startsWith(beginning)));
  if (unknown !== undefined) throw new Error(`CLAIMS_FILES: no test file begins with "${unknown}"`);
  const files = testFiles.filter(
    (file) =>
      file.startsWith(`${room}/`) &&
      chosen.some((beginning) => file.startsWith(beginning)) &&
      claimsOf(file).length > 0,
  );
  for (const file of files)
    test(`tests of ${file} fail without the fields that they claim to check`, async (t) => {
      const verdicts = await checkClaims(file);
      t.diagnostic(`${file}: ${verdicts.length} claims`);
      const problems = verdicts.map((verdict) => problemOf(file, verdict)).filter((each) => each !== null);
      assert.deepEqual(problems, []);
      const skipped = verdicts.filter(({ skip }) => skip !== undefined);
      if (skipped.length > 0) t.skip(`${skipped.length} claims: ${skipped[0]?.skip}`);
    });
}
