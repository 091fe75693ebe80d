import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resolveReferences, runEnvironment } from './run-environment.ts';

const system = { ENVARIUM_PROJECT_ID: 'p1', ENVARIUM_ENVIRONMENT_NAME: 'a ${ENVARIUM_PROJECT_ID}' };

it('references to system variables are resolved once, all others stay', () => {
  assert.equal(resolveReferences('${ENVARIUM_PROJECT_ID}-${ENVARIUM_PROJECT_ID}', system), 'p1-p1');
  assert.equal(
    resolveReferences(
      '${ENVARIUM_ENVIRONMENT_NAME} ${ENVARIUM_NONE} ${HOME} $ENVARIUM_PROJECT_ID $1 $&',
      system,
    ),
    'a ${ENVARIUM_PROJECT_ID} ${ENVARIUM_NONE} ${HOME} $ENVARIUM_PROJECT_ID $1 $&',
  );
  assert.equal(resolveReferences('${ENVARIUM_toString}', {}), '${ENVARIUM_toString}');
});

it('a run sees its variables and the system variables, which win', () => {
  const variable = (name: string, value: string) => ({ name, value, isSensitive: false });
  const environment = runEnvironment({
    variables: {
      environment: [
        variable('A', '${ENVARIUM_PROJECT_ID}'),
        variable('ENVARIUM_PROJECT_ID', 'mine'),
        variable('__proto__', 'x'),
      ],
      terraform: [variable('B', 'no')],
    },
    systemVariables: system,
  });
  assert.deepEqual(Object.entries(environment).sort(), [
    ['A', 'p1'],
    ['ENVARIUM_ENVIRONMENT_NAME', 'a ${ENVARIUM_PROJECT_ID}'],
    ['ENVARIUM_PROJECT_ID', 'p1'],
    ['__proto__', 'x'],
  ]);
});
