/** Declares the tests that check what other tests claim (`covers`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repositoryFiles } from '../tree/repository.ts';
import { type ClaimVerdict, checkClaims, claimsOf, nameOf } from './check-claims.ts';

/** Claims that cannot be checked so, by file and field, with the reason. An entry that is not needed is a failure. */
const exceptions: Readonly<Record<string, string>> = {};

function problemOf(file: string, { claim, problem }: ClaimVerdict): string | null {
  const reason = exceptions[`${file} ${claim.subject}.${claim.field}`];
  if (reason === undefined) return problem && `${nameOf(claim)}: ${problem}`;
  return problem === null ? `${nameOf(claim)} needs no exception` : null;
}

/**
 * One test for each test file of a room with claims; `CLAIMS_FILES`, the beginnings of paths separated by commas, selects some.
 */
export function declareChecks(room: string): void {
  const chosen = process.env.CLAIMS_FILES?.split(',') ?? [''];
  const files = repositoryFiles().filter(
    (file) =>
      file.startsWith(`${room}/`) &&
      file.endsWith('.test.ts') &&
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
