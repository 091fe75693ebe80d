import assert from 'node:assert/strict';
import { it } from 'node:test';
import { longVariables, runEnvironment } from './run-environment.ts';

const system = { ENVARIUM_PROJECT_ID: 'p1', ENVARIUM_ENVIRONMENT_NAME: 'a ${ENVARIUM_PROJECT_ID}' };

function resolved(value: string, systemVariables: Readonly<Record<string, string>>): string | undefined {
  const environment = [{ name: 'VALUE', value, isSensitive: false }];
  return runEnvironment({ variables: { environment, terraform: [] }, systemVariables })['VALUE'];
}

it('references to system variables are resolved once, all others stay', () => {
  assert.equal(resolved('${ENVARIUM_PROJECT_ID}-${ENVARIUM_PROJECT_ID}', system), 'p1-p1');
  assert.equal(
    resolved('${ENVARIUM_ENVIRONMENT_NAME} ${ENVARIUM_NONE} ${HOME} $ENVARIUM_PROJECT_ID $1 $&', system),
    'a ${ENVARIUM_PROJECT_ID} ${ENVARIUM_NONE} ${HOME} $ENVARIUM_PROJECT_ID $1 $&',
  );
  assert.equal(resolved('${ENVARIUM_toString}', {}), '${ENVARIUM_toString}');
});

it('references cannot make a value longer than a process can get', () => {
  const bomb = '${ENVARIUM_LONG}'.repeat(60_000);
  const systemVariables = { ENVARIUM_LONG: 'x'.repeat(32_000) };
  assert.equal(resolved(bomb, systemVariables), bomb);
  const variable = (name: string, value: string, isLiteral?: boolean) => ({
    name,
    value,
    isSensitive: false,
    ...(isLiteral === undefined ? {} : { isLiteral }),
  });
  const environment = [
    variable('BOMB', bomb),
    variable('FOUR', '${ENVARIUM_LONG}'.repeat(4)),
    variable('FIVE', '${ENVARIUM_LONG}'.repeat(5)),
    variable('LITERAL', '${ENVARIUM_LONG}'.repeat(5), true),
    variable('LONG', 'y'.repeat(128 * 1024)),
  ];
  const found = longVariables({ variables: { environment, terraform: [] }, systemVariables });
  assert.deepEqual(
    found.map((text) => text.replace(/:.*/, '')),
    ['BOMB', 'FIVE', 'LONG'],
  );
});

it('a run sees its variables and the system variables, which win', () => {
  const variable = (name: string, value: string) => ({ name, value, isSensitive: false });
  const environment = runEnvironment({
    variables: {
      environment: [
        variable('A', '${ENVARIUM_PROJECT_ID}'),
        variable('ENVARIUM_PROJECT_ID', 'mine'),
        variable('__proto__', 'x'),
        { ...variable('LITERAL', '${ENVARIUM_PROJECT_ID}'), isLiteral: true },
      ],
      terraform: [variable('B', 'no')],
    },
    systemVariables: system,
  });
  assert.deepEqual(Object.entries(environment).sort(), [
    ['A', 'p1'],
    ['ENVARIUM_ENVIRONMENT_NAME', 'a ${ENVARIUM_PROJECT_ID}'],
    ['ENVARIUM_PROJECT_ID', 'p1'],
    ['LITERAL', '${ENVARIUM_PROJECT_ID}'],
    ['__proto__', 'x'],
  ]);
});
