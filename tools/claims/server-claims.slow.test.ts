import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClaims } from './check-claims.ts';
import { declareChecks } from './declare-checks.ts';

test('a false claim is found: of a reply, a request, a shape and a test that cannot run twice', async () => {
  const verdicts = await checkClaims('tools/claims/claims-for-tests.ts');
  assert.deepEqual(
    verdicts.map(({ claim, problem }) => [claim.subject, claim.field, problem]),
    [
      ['Team', 'name', null],
      ['Team', 'description', 'its test passes without the field'],
      ['listTeams', 'query.name', null],
      ['listTeams', 'query.limit', 'its test passes without the field'],
      ['listTeams', 'reply', null],
      ['deployEnvironment', '', 'its test passes without the field'],
      ['Team', 'id', 'its test passes without the field'],
      ['Team', 'users', null],
    ],
  );
});

declareChecks('server');
