/** Uploads of runs, and what they approve and apply of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stackProgram } from '../../../../../testing/cloudformation/program.ts';
import { startAwsServer, withAwsServer } from '../../../../../testing/secret-stores/aws-server.ts';
import type { ChangeSetReport } from '../api/reports.ts';

const template = `
Resources:
  Worker:
    Type: AWS::Lambda::Function
    Properties: { Code: ./src, Handler: index.main, Runtime: python3.12, Role: arn }
  Inner: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: inner.yaml } }
`;
const files = {
  'template.yaml': template,
  'inner.yaml': 'Resources: { Queue: { Type: AWS::SQS::Queue } }\n',
  'src/index.py': 'def main(event, context): return 1\n',
};
const environment = { ENVARIUM_CF_S3_BUCKET: 'artifacts', ENVARIUM_CF_S3_PREFIX: 'team' };
const rows = ({ changes }: ChangeSetReport) => changes.map(({ action, logicalId }) => [action, logicalId]);

test('a plan uploads code once, the apply uses it, and unchanged code changes nothing', async (t) => {
  const program = await stackProgram(t, files);
  const plan = (deploymentId: string) =>
    program.run<ChangeSetReport>('create-change-set', { environment, job: { deploymentId } });
  const validated = await program.run('validate', { environment });
  assert.equal(validated.status, 0, validated.log);
  assert.equal(program.aws.objects.size, 0, 'a check uploads nothing');
  const first = await plan('first');
  assert.equal(first.status, 0, first.log);
  const keys = [...program.aws.objects.keys()];
  const [key = ''] = keys.filter((each) => each.endsWith('.zip'));
  assert.match(key, /^artifacts\/team\/envarium\/[^/]+\/[0-9a-f]{64}\.zip$/);
  assert.ok(first.log.includes(`Uploaded Code of Worker to s3://${key}.`), first.log);
  program.write({ 'src/index.py': 'def main(event, context): return 2\n' });
  const applied = await program.run('execute-change-set', { environment, approved: first.report });
  assert.equal(applied.status, 0, applied.log);
  const { properties } = program.aws.account.cloud.resourceNamed('Worker');
  assert.deepEqual(properties['Code'], { S3Bucket: 'artifacts', S3Key: key.slice('artifacts/'.length) });
  assert.deepEqual([...program.aws.objects.keys()], keys, 'an apply uploads nothing');
  program.write({ 'src/index.py': files['src/index.py'] });
  const same = await plan('second');
  assert.equal(same.report.changeSetId, null, same.log);
  assert.deepEqual([...program.aws.objects.keys()], keys);
  program.write({ 'src/index.py': 'def main(event, context): return 2\n' });
  assert.deepEqual(rows((await plan('third')).report), [['Modify', 'Worker']]);
});

test('a plan that no one applies uploads only what AWS reads for it', async (t) => {
  const program = await stackProgram(t, files);
  const { status, report, log } = await program.run<ChangeSetReport>('create-change-set', {
    environment,
    job: { type: 'prPlan' },
  });
  assert.equal(status, 0, log);
  assert.deepEqual(rows(report).toSorted(), [
    ['Add', 'Inner'],
    ['Add', 'Worker'],
  ]);
  assert.deepEqual(
    [...program.aws.objects.keys()].map((key) => key.slice(key.lastIndexOf('.'))),
    ['.template'],
  );
});

test('without a bucket, the property is named before anything is planned', async (t) => {
  const program = await stackProgram(t, files);
  for (const verb of ['validate', 'create-change-set'] as const) {
    const { status, log } = await program.run(verb);
    assert.equal(status, 1);
    assert.match(
      log,
      /Error: Worker in template\.yaml has a folder as Code: set ENVARIUM_CF_S3_BUCKET to a bucket of S3/,
    );
  }
  const denied = await program.run('create-change-set', {
    environment: { ENVARIUM_CF_S3_BUCKET: 'missing-bucket' },
  });
  assert.match(denied.log, /Error: the bucket missing-bucket does not take Code of Worker: NoSuchBucket/);
  assert.deepEqual(program.aws.account.stackNames, []);
});

test('moto deploys a function from a folder, and finds it unchanged', withAwsServer(), async (t) => {
  await using moto = await startAwsServer();
  const { S3Client, CreateBucketCommand } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    endpoint: moto.url,
    region: 'eu-west-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'testing', secretAccessKey: 'testing' },
  });
  await client.send(
    new CreateBucketCommand({
      Bucket: 'artifacts',
      CreateBucketConfiguration: { LocationConstraint: 'eu-west-1' },
    }),
  );
  const program = await stackProgram(t, {
    ...files,
    'template.yaml': `
AWSTemplateFormatVersion: '2010-09-09'
Resources:
  Role: { Type: AWS::IAM::Role, Properties: { AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [] } } }
  Worker:
    Type: AWS::Lambda::Function
    Properties: { FunctionName: worker, Code: ./src, Handler: index.main, Runtime: python3.12, Role: !GetAtt Role.Arn }
`,
  });
  const all = {
    ...moto.environment,
    ...environment,
    ENVARIUM_CF_CAPABILITIES: 'CAPABILITY_IAM',
  };
  const plan = async (deploymentId: string) => {
    const planned = await program.run<ChangeSetReport>('create-change-set', {
      environment: all,
      job: { deploymentId },
    });
    assert.equal(planned.status, 0, planned.log);
    return planned.report;
  };
  const first = await plan('first');
  const applied = await program.run('execute-change-set', { environment: all, approved: first });
  assert.equal(applied.status, 0, applied.log);
  const address = `${moto.url}/2015-03-31/functions/worker`;
  const found = (await (
    await fetch(address, {
      headers: {
        authorization:
          'AWS4-HMAC-SHA256 Credential=key/20260101/eu-west-1/lambda/aws4_request, SignedHeaders=host, Signature=none',
      },
    })
  ).json()) as { Configuration: { CodeSize: number } };
  assert.ok(found.Configuration.CodeSize > 100);
  assert.equal((await plan('second')).changeSetId, null);
  program.write({ 'src/index.py': 'def main(event, context): return 2\n' });
  assert.deepEqual(rows(await plan('third')), [['Modify', 'Worker']]);
});
