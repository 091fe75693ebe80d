import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../tools/suite/until.ts';
import { testApp } from '../../testing/app.ts';
import { BuiltInAgent } from './built-in-agent.ts';

test('a setting that keeps the built-in agent from starting is logged and reported by /readyz', async () => {
  const missing = '/nowhere/authorities.pem';
  const { app, context, folder, logged } = await testApp({ ENVARIUM_CA_FILE: missing });
  // Started as root, an agent needs a work folder that the users of its runs can enter.
  chmodSync(folder, 0o755);
  assert.equal((await app.inject('/readyz')).statusCode, 200);
  const dataFolder = { path: folder, id: 'test', place: join(folder, 'place') };
  await using _agent = await BuiltInAgent.start(context, dataFolder, 'http://127.0.0.1:9');
  await until('a problem', () => context.problems.size > 0);
  const answer = await app.inject('/readyz');
  assert.equal(answer.statusCode, 503);
  assert.match(answer.body, /"The built-in agent does not start: see the service's log"/);
  assert.ok(!answer.body.includes(missing), 'callers without credentials get no paths of the machine');
  assert.match(logged.join(''), /the built-in agent failed to start/);
  assert.match(logged.join(''), /ENVARIUM_CA_FILE.*nowhere/);
});
