/** The example of Ansible, from its first plan to its destroy, on a whole service. */
import assert from 'node:assert/strict';
import { appendFile, chmod, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { pythonProgram, withToolbox } from '../tools/toolbox/places.ts';
import { readFolder } from './examples.ts';
import { approveAndEnd, createEnvironment, homeOf, untilEnd, untilStatus } from './runs.ts';
import { makeRepository, removeScratch, startService } from './service.ts';

test(
  'an environment of Ansible is planned, approved, applied, checked for drift and destroyed',
  withToolbox('ansible'),
  async (t) => {
    const world = await mkdtemp(join(tmpdir(), 'world-'));
    await chmod(world, 0o777);
    t.after(() => removeScratch(world));
    const programs = dirname(pythonProgram('ansible') ?? '');
    await using service = await startService({
      settings: {
        PATH: [programs, process.env.PATH].join(delimiter),
        // Hosts are elsewhere; this one is a folder that a sandbox would not show.
        ENVARIUM_ISOLATION: 'off',
      },
    });
    const { client } = service;
    const { path: repository } = await makeRepository(service.folder, 'sites', await readFolder('ansible'));
    const page = join(world, 'site/index.html');
    const { id, deploymentId } = await createEnvironment(client, await homeOf(client), {
      repository,
      type: 'ansible',
      requiresApproval: true,
      configurationChanges: [
        { name: 'site_folder', value: join(world, 'site'), type: 1 },
        { name: 'ANSIBLE_VAR_site_title', value: 'planted-title', type: 0, isSensitive: true },
      ],
    });
    const planned = await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    assert.equal(planned.status, 'WAITING_FOR_USER', planned.error?.message);
    assert.deepEqual(planned.planSummary, { added: 2, changed: 0, destroyed: 0 });
    assert.match(
      planned.waitingFor?.text ?? '',
      /The approval covers the commit, the variables, the version of Ansible/,
    );
    assert.doesNotMatch(JSON.stringify(planned), /planted-title/);
    const applied = await approveAndEnd(client, deploymentId);
    assert.equal(applied.status, 'SUCCESS', applied.error?.message);
    assert.deepEqual(applied.output?.site_folder, {
      value: join(world, 'site'),
      sensitive: false,
      type: 'string',
    });
    assert.equal(applied.resourceCount, 1);
    assert.match(await readFile(page, 'utf8'), /<h1>planted-title<\/h1>/);
    await appendFile(page, '<p>by hand</p>\n');
    const params = { id };
    const drift = await client.call('deployEnvironment', {
      params,
      body: { deploymentType: 'driftDetection' },
    });
    const found = await untilEnd(client, drift.id);
    assert.equal(found.status, 'SUCCESS', found.error?.message);
    assert.equal((await client.call('getEnvironment', { params })).driftStatus, 'DRIFTED');
    assert.match(JSON.stringify(found.plan), /by hand/);
    // The user of the next run may be another one.
    await chmod(join(world, 'site'), 0o777);
    const destroy = await client.call('destroyEnvironment', { params });
    assert.equal((await approveAndEnd(client, destroy.id)).status, 'SUCCESS');
    assert.deepEqual(await readdir(world), []);
    assert.equal((await client.call('getEnvironment', { params })).status, 'INACTIVE');
  },
);
