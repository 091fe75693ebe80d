/** Invalid deployments are refused with a reason and a remedy, before anything has changed. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Invocation, stackProgram } from '../../../../testing/cloudformation/program.ts';
import { startForwardProxy } from '../../../../testing/forward-proxy.ts';
import type { ChangeSetReport, DriftReport } from './api/reports.ts';

const queue = 'Resources: { Queue: { Type: AWS::SQS::Queue } }\n';
const withParameters = `
Parameters:
  Name: { Type: String }
  Zones: { Type: CommaDelimitedList }
  Token: { Type: String, NoEcho: true, Default: planted-default }
Resources:
  Queue: { Type: AWS::SQS::Queue, Properties: { QueueName: !Ref Name, Tags: !Ref Zones, Note: !Ref Token } }
`;
const parameters = { Name: 'one', Zones: 'a,b' };

/** The message with which a verb fails, which leaves nothing. */
async function refusal(
  t: TestContext,
  files: Record<string, string>,
  invocation: Invocation = {},
): Promise<string> {
  const program = await stackProgram(t, files);
  const validated = await program.run('validate', invocation);
  const planned = await program.run('create-change-set', invocation);
  assert.equal(planned.status, 1, planned.log);
  assert.deepEqual(program.aws.account.stackNames, []);
  const message = planned.log.slice(planned.log.lastIndexOf('Error: '));
  if (validated.status !== 0)
    assert.equal(validated.log.slice(validated.log.lastIndexOf('Error: ')), message);
  return message;
}

test('a template that does not validate is refused in the words of AWS', async (t) => {
  const broken = await refusal(t, { 'template.yaml': 'Resources:\n  Queue:\n    Properties: {}\n' });
  assert.match(
    broken,
    /template\.yaml does not validate: Template format error: .*must contain a Type member/,
  );
  const unresolved = await refusal(t, {
    'template.yaml': 'Resources: { Queue: { Type: AWS::SQS::Queue, Properties: { A: !Ref Other } } }',
  });
  assert.match(unresolved, /Unresolved resource dependencies \[Other\]/);
  assert.match(await refusal(t, { 'template.yaml': '{"Resources": ' }), /template\.yaml cannot be read/);
});

test('a missing template is named, and the usual names are tried', async (t) => {
  assert.match(
    await refusal(t, {}),
    /contains none of template\.yaml, template\.yml, template\.json: set fileName/,
  );
  const job = { settings: { fileName: 'stack/main.yaml' } };
  assert.match(
    await refusal(t, { 'template.yaml': queue }, { job }),
    /fileName: there is no file stack\/main\.yaml/,
  );
  const program = await stackProgram(t, {
    'stack/main.yaml': queue,
    'template.json': JSON.stringify({ Resources: { Other: { Type: 'AWS::SNS::Topic' } } }),
  });
  const named = await program.run<ChangeSetReport>('create-change-set', { job });
  assert.deepEqual(
    named.report.changes.map(({ logicalId }) => logicalId),
    ['Queue'],
  );
  const usual = await program.run<ChangeSetReport>('create-change-set');
  assert.deepEqual(
    usual.report.changes.map(({ logicalId }) => logicalId),
    ['Other'],
  );
});

test('parameters without a value are named, with every way to give one', async (t) => {
  const message = await refusal(t, { 'template.yaml': withParameters });
  assert.match(
    message,
    /needs a value for Name, Zones: add variables of type 1 with these names, or ENVARIUM_CF_PARAM_Name/,
  );
});

test('parameters come from the file, then variables, then ENVARIUM_CF_PARAM_; others are left out', async (t) => {
  const program = await stackProgram(t, {
    'template.yaml': withParameters,
    'parameters.json': JSON.stringify([
      { ParameterKey: 'Name', ParameterValue: 'of-the-file' },
      { ParameterKey: 'Zones', ParameterValue: 'x' },
    ]),
  });
  const invocation = {
    environment: {
      ENVARIUM_CF_PARAMETERS_FILE: 'parameters.json',
      ENVARIUM_CF_PARAM_Name: 'of-the-environment',
    },
    job: {
      variables: {
        environment: [],
        terraform: [
          { name: 'Zones', value: '["a", "b"]', format: 'JSON' as const, isSensitive: false },
          { name: 'vpc_cidr', value: 'x', isSensitive: false },
        ],
      },
    },
  };
  const all = {
    ...invocation,
    job: {
      variables: {
        ...invocation.job.variables,
        environment: Object.entries({ ...program.aws.environment, ...invocation.environment }).map(
          ([name, value]) => ({ name, value, isSensitive: false }),
        ),
      },
    },
  };
  const validated = await program.run('validate', all);
  assert.match(
    validated.log,
    /Warning: the template has no parameters named vpc_cidr: these variables are left out/,
  );
  const { report, log } = await program.run<ChangeSetReport>('create-change-set', all);
  assert.ok(report, log);
  const [change] = report.changes;
  const shown = Object.fromEntries((change?.properties ?? []).map(({ name, after }) => [name, after]));
  assert.deepEqual(shown, { QueueName: 'of-the-environment', Tags: 'a,b', Note: '****' });
  program.write({ 'parameters.json': '{"Parameters": {"Nmae": "typo"}}' });
  const typo = await program.run('create-change-set', all);
  assert.match(typo.log, /ENVARIUM_CF_PARAMETERS_FILE: the template has no parameters named Nmae/);
});

test('what a template needs to be allowed is named, and allowed by a variable', async (t) => {
  const files = {
    'template.yaml': 'Resources: { Role: { Type: AWS::IAM::Role, Properties: { RoleName: deployer } } }',
  };
  assert.match(
    await refusal(t, files),
    /the template needs CAPABILITY_NAMED_IAM \(.*AWS::IAM::Role.*\): set ENVARIUM_CF_CAPABILITIES to CAPABILITY_NAMED_IAM/,
  );
  const program = await stackProgram(t, files);
  const { status, log } = await program.run('create-change-set', {
    environment: { ENVARIUM_CF_CAPABILITIES: 'CAPABILITY_NAMED_IAM' },
  });
  assert.equal(status, 0, log);
});

test('large templates need a bucket, which keeps them no longer than the plan', async (t) => {
  const large = `${queue}# ${'x'.repeat(52_000)}\n`;
  assert.match(
    await refusal(t, { 'template.yaml': large }),
    /has 520\d\d bytes, and requests take templates of at most 51200: set ENVARIUM_CF_S3_BUCKET/,
  );
  assert.match(
    await refusal(t, { 'template.yaml': `${queue}# ${'x'.repeat(1_000_000)}` }),
    /at most 1000000: divide it/,
  );
  const missing = await refusal(
    t,
    { 'template.yaml': large },
    { environment: { ENVARIUM_CF_S3_BUCKET: 'missing-bucket' } },
  );
  assert.match(missing, /the bucket missing-bucket does not take the template: NoSuchBucket/);
  const program = await stackProgram(t, { 'template.yaml': large });
  const { status, report, log } = await program.run<ChangeSetReport>('create-change-set', {
    environment: { ENVARIUM_CF_S3_BUCKET: 'templates', ENVARIUM_CF_S3_PREFIX: '/some/folder/' },
  });
  assert.equal(status, 0, log);
  assert.equal(report.changes.length, 1);
  assert.equal(program.aws.objects.size, 0);
});

test('expired credentials are named, with where they are from', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  program.aws.expire();
  const { status, log } = await program.run('create-change-set', {
    environment: { AWS_SESSION_TOKEN: 'session' },
  });
  assert.equal(status, 1);
  assert.match(
    log,
    /Error: the AWS credentials have expired \(ExpiredToken: .*\)\. They are those of AWS_ACCESS_KEY_ID, .*a session: renew them/,
  );
});

test('missing credentials, a missing region and an address that does not answer are named', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  const failing = async (environment: Invocation['environment']) =>
    (
      await program.run('create-change-set', {
        environment: { AWS_EC2_METADATA_DISABLED: 'true', ...environment },
      })
    ).log;
  assert.match(
    await failing({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined }),
    /Error: there are no credentials for AWS: assign a credential/,
  );
  assert.match(
    await failing({ AWS_REGION: undefined }),
    /Error: the region is missing: set the variable AWS_REGION/,
  );
  assert.match(
    await failing({ AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_MAX_ATTEMPTS: '2' }),
    /Error: AWS cannot be reached \(ECONNREFUSED\)/,
  );
});

test('a web page in the place of an answer of AWS is named, whatever its status', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  for (const status of [200, 403, 502]) {
    const page = createServer((_, response) =>
      response
        .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
        .end('<!DOCTYPE html>\n<html><head><title>Blocked by policy</title></head></html>'),
    );
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const { port } = page.address() as AddressInfo;
    const environment = { AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`, AWS_MAX_ATTEMPTS: '2' };
    for (const verb of ['create-change-set', 'plan-deletion'] as const) {
      const { status: code, log } = await program.run(verb, { environment });
      assert.equal(code, 1, log);
      assert.match(
        log,
        new RegExp(
          `Error: a web page was answered instead of AWS \\(status ${status}, "Blocked by policy"\\): check`,
        ),
      );
    }
    page.closeAllConnections();
    page.close();
  }
});

test('requests that AWS limits are repeated, and the log says so', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  program.aws.throttle(3);
  const { status, log } = await program.run('create-change-set');
  assert.equal(status, 0, log);
  assert.match(
    log,
    /AWS limits the rate of requests \(GetTemplateSummaryCommand\): the request is repeated later/,
  );
  program.aws.throttle(1_000);
  const failed = await program.run('create-change-set', { environment: { AWS_MAX_ATTEMPTS: '2' } });
  assert.match(failed.log, /Error: AWS still limits the rate of requests after all repetitions/);
});

test('a change set that was deleted, made obsolete or exchanged is not executed', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': withParameters });
  const { report } = await program.run<ChangeSetReport>('create-change-set', { parameters });
  await program.run('execute-change-set', { parameters, approved: report });
  const next = { parameters: { ...parameters, Zones: 'c' }, job: { deploymentId: 'second' } };
  const planned = await program.run<ChangeSetReport>('create-change-set', next);
  const other = { ...planned.report, hash: 'other' };
  const exchanged = await program.run('execute-change-set', { ...next, approved: other });
  assert.match(
    exchanged.log,
    /Error: nothing was executed, because it has other changes: deploy again and approve/,
  );
  await program.aws.account.updateByHand('orders', withParameters.replace('Note:', 'Remark:'));
  const obsolete = await program.run<ChangeSetReport>('describe-change-set', {
    ...next,
    approved: planned.report,
  });
  assert.deepEqual(obsolete.report.state, {
    problem: 'the stack was changed after the plan, which made its change set obsolete',
  });
  const refused = await program.run('execute-change-set', { ...next, approved: planned.report });
  assert.match(refused.log, /Error: nothing was executed, because the stack was changed after the plan/);
  await program.run('create-change-set', { ...next, job: { deploymentId: 'third' } });
  const deleted = await program.run('execute-change-set', { ...next, approved: planned.report });
  assert.match(deleted.log, /because the approved change set is there no more/);
  assert.equal(program.aws.requests.filter((action) => action === 'ExecuteChangeSet').length, 1);
});

test('a change set that fails says why, and leaves nothing', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  await program.aws.account.createByHand('orders', queue);
  const { report } = await program.run<ChangeSetReport>('create-change-set', {
    environment: { ENVARIUM_CF_CLI_ARGS_DEPLOY: '' },
  });
  await program.run('execute-change-set', { approved: report });
  const empty = await program.run<ChangeSetReport>('create-change-set', { job: { deploymentId: 'second' } });
  assert.equal(empty.report.changeSetId, null);
  assert.match(empty.log, /Stack orders is as the template and its parameters want it\./);
  assert.ok(!program.aws.account.changeSets.some(({ name }) => name.endsWith('second')));
});

test('drift is found by property, in nested stacks too', async (t) => {
  const program = await stackProgram(t, {
    'template.yaml': `
Resources:
  Own: { Type: AWS::SNS::Topic, Properties: { DisplayName: own } }
  Inner: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: nested/inner.yaml } }
`,
    'nested/inner.yaml': 'Resources: { Deep: { Type: AWS::SQS::Queue, Properties: { DelaySeconds: 1 } } }',
  });
  const environment = { ENVARIUM_CF_S3_BUCKET: 'templates' };
  const missing = await program.run('create-change-set');
  assert.match(missing.log, /Inner in template\.yaml has a file as TemplateURL: set ENVARIUM_CF_S3_BUCKET/);
  const planned = await program.run<ChangeSetReport>('create-change-set', { environment });
  assert.equal(planned.status, 0, planned.log);
  const applied = await program.run('execute-change-set', { environment, approved: planned.report });
  assert.equal(applied.status, 0, applied.log);
  assert.match(applied.log, /CREATE_COMPLETE AWS::SQS::Queue Inner\.Deep/);
  assert.equal(program.aws.objects.size, 1, 'AWS reads nested templates later, too');
  const { cloud } = program.aws.account;
  cloud.change(cloud.resourceNamed('Deep').physicalId, { DelaySeconds: 9 });
  cloud.remove(cloud.resourceNamed('Own').physicalId);
  const { report } = await program.run<DriftReport>('detect-drift');
  assert.deepEqual(
    report.drifts.map(({ logicalId, within, status, differences }) => ({
      logicalId,
      within,
      status,
      differences,
    })),
    [
      { logicalId: 'Own', within: [], status: 'DELETED', differences: [] },
      {
        logicalId: 'Deep',
        within: ['Inner'],
        status: 'MODIFIED',
        differences: [{ path: 'DelaySeconds', expected: '1', actual: '9' }],
      },
    ],
  );
  program.write({
    'nested/inner.yaml': 'Resources: { Deep: { Type: AWS::SQS::Queue, Properties: { DelaySeconds: 2 } } }',
  });
  const changed = await program.run<ChangeSetReport>('create-change-set', {
    environment,
    job: { deploymentId: 'second' },
  });
  assert.deepEqual(
    changed.report.changes.map(({ within, logicalId }) => [...within, logicalId].join('.')),
    ['Own', 'Inner', 'Inner.Deep'],
  );
});

test('a deployment undoes drift, unless a variable says otherwise', async (t) => {
  const program = await stackProgram(t, {
    'template.yaml': `
Resources:
  Topic: { Type: AWS::SNS::Topic, Properties: { DisplayName: ours } }
  Queue: { Type: AWS::SQS::Queue, Properties: { DelaySeconds: 1 } }
`,
  });
  const first = await program.run<ChangeSetReport>('create-change-set');
  await program.run('execute-change-set', { approved: first.report });
  const { cloud } = program.aws.account;
  cloud.change(cloud.resourceNamed('Queue').physicalId, { DelaySeconds: 9 });
  cloud.remove(cloud.resourceNamed('Topic').physicalId);
  const without = await program.run<ChangeSetReport>('create-change-set', {
    job: { deploymentId: 'second' },
    environment: { ENVARIUM_CF_REVERT_DRIFT: 'false' },
  });
  assert.equal(without.report.changeSetId, null);
  const job = { deploymentId: 'third' };
  const { report } = await program.run<ChangeSetReport>('create-change-set', { job });
  assert.deepEqual(
    report.changes.map(({ logicalId, action, isDrifted }) => [logicalId, action, isDrifted]),
    [
      ['Topic', 'Add', true],
      ['Queue', 'Modify', true],
    ],
  );
  assert.deepEqual(
    report.changes[1]?.properties.map(({ before, after }) => [before, after]),
    [['9', '1']],
  );
  const { status, log } = await program.run('execute-change-set', { job, approved: report });
  assert.equal(status, 0, log);
  assert.equal(cloud.resourceNamed('Queue').properties['DelaySeconds'], 1);
  assert.ok(cloud.resourceNamed('Topic'));
});

test('requests go through the proxy of the run', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  await using proxy = await startForwardProxy();
  const { status, log } = await program.run('create-change-set', {
    environment: { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: '1' },
  });
  assert.equal(status, 0, log);
  assert.equal(proxy.requests.length, program.aws.requests.length);
});
