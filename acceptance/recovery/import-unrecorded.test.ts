/**
 * Resources that a killed tool created and could not record are imported by the next deployment, if a person
 * requests it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { ApiError } from '#contract/client/client.ts';
import { covers } from '#contract/documents/coverage.ts';
import { toolsOfFamily } from '../family-tools.ts';
import { leaveMark, startMarks } from '../marks.ts';
import { approveAndEnd, createEnvironment, deploy, homeOf, until, untilEnd, wholeLog } from '../runs.ts';
import { makeRepository, startService } from '../service.ts';
import { commandPid, sendSignal } from './processes.ts';

const configuration = (place: string) => `resource "terraform_data" "first" {
  for_each = toset(["x y"])
  provisioner "local-exec" {
    command = "${leaveMark(place, 'first')}"
  }
}

resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "${leaveMark(place, 'begin')} && ${leaveMark(place, 'end')}"
  }
}

output "first" {
  value = terraform_data.first["x y"].id
}
`;

// Only OpenTofu leaves such a gap each time: it writes its state every 20 s.
const opentofu = (await toolsOfFamily()).find(({ type }) => type === 'opentofu');

test('what a killed tool created is imported by the next deployment on request, and not created again', {
  skip: opentofu?.skip ?? 'needs OpenTofu',
}, async () => {
  covers('deployEnvironment', 'body.importUnrecorded');
  await using marks = await startMarks(['begin']);
  await using service = await startService({
    settings: { PATH: opentofu?.path ?? '', ENVARIUM_LOG_LEVEL: 'error' },
  });
  const { client } = service;
  const { path } = await makeRepository(service.folder, 'code', {
    'main.tf': configuration(marks.addressOf('run')),
  });
  const { id, deploymentId } = await createEnvironment(client, await homeOf(client), {
    repository: path,
    type: 'opentofu',
  });
  await until('the second resource', () => marks.of('run').includes('begin'));
  sendSignal(await commandPid(service, id, /tofu apply/), 'SIGKILL');
  marks.open('run', 'begin');
  const killed = await untilEnd(client, deploymentId, 'FAILURE');
  const [first, second] = killed.unrecordedResources ?? [];
  assert.deepEqual(
    [first?.address, first?.certainty, second?.address, second?.certainty],
    ['terraform_data.first["x y"]', 'created', 'terraform_data.second', 'may exist'],
  );

  const started = await deploy(client, id, { importUnrecorded: true, userRequiresApproval: true });
  const done = await approveAndEnd(client, started.id);
  assert.deepEqual(done.planSummary, { added: 1, changed: 0, destroyed: 0, imported: 1 });
  assert.deepEqual(
    done.plan?.resourceChanges
      .filter(({ importing }) => importing)
      .map(({ path, importing }) => [path, importing?.id]),
    [[first?.address, first?.id]],
  );
  const log = stripVTControlCharacters(await wholeLog(client, started.id));
  assert.match(log, /^Importing terraform_data\.first.*\n[^]*Plan: 1 to import, 1 to add/m);
  assert.deepEqual([done.resourceCount, done.output?.first?.value], [2, first?.id]);
  assert.deepEqual(
    marks.of('run').filter((mark) => mark === 'first'),
    ['first'],
  );
  await assert.rejects(
    deploy(client, id, { importUnrecorded: true }),
    (error) => error instanceof ApiError && error.status === 409 && /nothing to import/.test(error.message),
  );
});
