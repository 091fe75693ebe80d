import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { ApiError } from '#contract/client/client.ts';
import { createProgram } from '../program.ts';
import { inOptions } from './option-names.ts';

/** The message of a refusal, as the command that was called shows it. */
function shown(path: readonly string[], message: string, args: readonly string[] = []): string {
  let command: Command | undefined = createProgram();
  for (const name of path) command = command?.commands.find((each) => each.name() === name);
  assert.ok(command, path.join(' '));
  command.parseOptions([...args]);
  const error = inOptions(new ApiError(400, { code: 'bad_request', message }), command);
  return (error as Error).message;
}

test('a refusal names the option that a field came from', () => {
  const create = ['environment', 'create'];
  assert.equal(shown(create, '/body/repository is refused: x'), '--repository is refused: x');
  assert.equal(shown(create, '/body/driftDetectionRequest/cron is wrong'), '--drift-cron is wrong');
  assert.equal(shown(create, '/body/name must be shorter'), '<name> must be shorter');
  assert.equal(shown(create, '/body/terraformVersion is not a version'), '--tool-version is not a version');
  assert.equal(shown(create, '/body/sshKeys/0/id matches nothing'), '--ssh-key id matches nothing');
  const timeframe = shown(['budget', 'set'], '/body/timeframe must be one of WEEKLY');
  assert.equal(timeframe, '--timeframe must be one of WEEKLY');
  const threshold = shown(['budget', 'set'], '/body/thresholds/0 must be <= 1000');
  assert.equal(threshold, '--threshold must be <= 1000');
  const retry = shown(['templates', 'create'], '/body/retry/onDeploy/errorRegex is not valid');
  assert.equal(retry, '--retry-regex is not valid');
  assert.equal(shown(['environment', 'update'], '/body/name must be shorter'), '--name must be shorter');
  assert.equal(shown(['deployments', 'list'], '/query/fromDate is not a time'), '--from is not a time');
});

test('a request that is a lifetime is called so', () => {
  assert.equal(shown(['environment', 'ttl'], '/body must be INFINITE'), '<lifetime> must be INFINITE');
});

test('a refusal names the option that was specified if several belong to one field', () => {
  const create = ['approval-policies', 'create'];
  const refusal = '/body/path must be a policy of the catalogue';
  const catalogue = shown(create, refusal, ['--catalogue', 'x']);
  assert.equal(catalogue, '--catalogue must be a policy of the catalogue');
  assert.match(shown(create, refusal, ['--repository', 'x', '--path', 'y']), /^--path must be/);
  const endpoint = ['notifications', 'endpoints', 'create'];
  assert.equal(shown(endpoint, '/body/value is private', ['--value', 'x']), '--value is private');
  const set = shown(['policies', 'set'], '/body/driftDetectionCron is wrong', [
    '--drift-detection-cron',
    'x',
  ]);
  assert.equal(set, '--drift-detection-cron is wrong');
});

test('a refusal of a variable names the option that it came from', () => {
  const args = ['--sensitive', 'C', '--sensitive', 'b=@file', '--env', 'C=@file', '--var', 'a=1'];
  const name = (index: number, ...more: string[]) =>
    shown(['deploy'], `/body/configurationChanges/${index}/name is refused`, [...args, ...more]);
  assert.equal(name(0), '--var name is refused');
  assert.equal(name(1), '--env name is refused');
  assert.equal(name(2), '--sensitive name is refused');
  assert.equal(name(3, '--var-file', 'more.json'), '--var-file name is refused');
  const set = shown(['variables', 'set'], '/body/1/value is refused', ['--var', 'a=1', '--env', 'B=2']);
  assert.equal(set, '--env value is refused');
  assert.equal(
    shown(['set', 'edit'], '/body/configurationPropertiesChanges/1/value is refused', [
      '--var',
      'a=1',
      '--unset',
      'b',
    ]),
    '--var value is refused',
  );
});

test('a field without an option keeps its name, and other paths are unchanged', () => {
  assert.equal(shown(['deploy'], '/body/subEnvironments/a is refused'), 'subEnvironments.a is refused');
  assert.equal(
    shown(['deploy'], 'PUT /environments/query/x of /srv/body/x'),
    'PUT /environments/query/x of /srv/body/x',
  );
});
