import assert from 'node:assert/strict';
import { test } from 'node:test';
import { variableFiles } from './variable-files.ts';

const systemVariables = {
  ENVARIUM_ENVIRONMENT_NAME: 'net',
  ENVARIUM_REVIEWER_NAME: 'Ada',
  ENVARIUM_VCS_ACCESS_TOKEN: 'planted-token',
  ENVARIUM_OIDC_TOKEN: 'planted-jwt',
};

function jobOf(...environment: [name: string, value: string][]) {
  const variables = environment.map(([name, value]) => ({ name, value, isSensitive: false }));
  return { variables: { environment: variables, terraform: [] }, systemVariables };
}

function contentsOf(job: ReturnType<typeof jobOf>): [string, unknown, boolean][] {
  return variableFiles(job).map(({ name, content, isSecret }) => [name, JSON.parse(content), isSecret]);
}

test('a run finds its variables in files, without tokens and the same before and after an approval', () => {
  const job = jobOf(
    ['A', 'in ${ENVARIUM_ENVIRONMENT_NAME}'],
    ['ENVARIUM_ENVIRONMENT_NAME', 'mine'],
    ['__proto__', 'x'],
  );
  const [own, system] = contentsOf(job);
  assert.deepEqual(own?.[0], 'envarium.env-vars.json');
  assert.deepEqual(Object.entries(own?.[1] as object), [
    ['A', 'in net'],
    ['__proto__', 'x'],
  ]);
  assert.deepEqual(system, [
    'envarium.system-env-vars.json',
    { ENVARIUM_ENVIRONMENT_NAME: 'net', ENVARIUM_REVIEWER_NAME: '' },
    true,
  ]);
  assert.equal(own?.[2], true);
});

test('a variable of the run turns the files off', () => {
  assert.deepEqual(contentsOf(jobOf(['ENVARIUM_VARIABLE_FILES', 'false'])), []);
  assert.equal(contentsOf(jobOf(['ENVARIUM_VARIABLE_FILES', 'true'])).length, 2);
});
