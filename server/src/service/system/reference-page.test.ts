import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { firstRequest } from '#contract/documents/reference-page.ts';
import { skipUnlessRequired } from '../../../../tools/toolbox/places.ts';
import { startTests } from '../../../testing/start.ts';

const { app, createIdle } = await startTests();

const withoutCurl = spawnSync('curl', ['--version']).status !== 0 && skipUnlessRequired('needs curl').skip;

test('the first request of the reference page runs as it is written', { skip: withoutCurl }, async () => {
  const { id } = await createIdle();
  const page = (await app.app.inject('/reference')).body;
  const [, shown = ''] = /<pre>([^<]*)<\/pre>/.exec(page) ?? [];
  assert.equal(shown.replaceAll('&quot;', '"'), firstRequest);
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${firstRequest} --silent`], {
    env: {
      PATH: process.env.PATH,
      ENVARIUM_API_URL: await app.listen(),
      ENVARIUM_API_KEY: app.admin.id,
      ENVARIUM_API_SECRET: app.admin.secret,
    },
  });
  assert.equal((JSON.parse(stdout) as { id: string }[])[0]?.id, id);
});
