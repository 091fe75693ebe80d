import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { fromBufferPromise } from 'yauzl';
import { recordOf } from '#contract/schema/is-record.ts';
import { requestFile } from '../api/reports.ts';
import { type Artifact, packageTemplate } from './package-template.ts';

const outer = mkdtempSync(join(tmpdir(), 'artifacts-'));
const before = { folder: process.cwd(), root: process.env['ENVARIUM_ROOT_DIR'] };
mkdirSync(join(outer, 'repository/stacks/app'), { recursive: true });
process.chdir(join(outer, 'repository/stacks/app'));
process.env['ENVARIUM_ROOT_DIR'] = join(outer, 'repository');
test.after(() => {
  process.chdir(before.folder);
  if (before.root === undefined) delete process.env['ENVARIUM_ROOT_DIR'];
  else process.env['ENVARIUM_ROOT_DIR'] = before.root;
  rmSync(outer, { recursive: true });
});

/** Writes files relative to the configuration's folder. */
function write(files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, content);
  }
}

const uploads = {
  placeOf: (name: string) => ({ bucket: 'bucket', key: `key/${name}` }),
  addressOf: async ({ key }: { readonly key: string }) => `https://bucket/${key}`,
};
const packaged = (text: string) => packageTemplate(text, 'template.yaml', uploads);
const ofResource = (type: string, properties: string) =>
  `Resources:\n  One:\n    Type: ${type}\n    Properties:\n      ${properties}\n`;

/** The properties of the resource `One`. */
async function propertiesOf(text: string): Promise<Record<string, unknown>> {
  const { text: found } = await packaged(text);
  const resources = recordOf(recordOf(parse(found, { logLevel: 'silent' }))['Resources']);
  return recordOf(recordOf(resources['One'])['Properties']);
}

async function entriesOf(artifact: Artifact | undefined): Promise<[string, string, string][]> {
  const zip = await fromBufferPromise(Buffer.from((await artifact?.content()) ?? []));
  const found: [string, string, string][] = [];
  for await (const entry of zip.eachEntry()) {
    const chunks = await (await zip.openReadStreamPromise(entry)).toArray();
    const mode = (entry.externalFileAttributes >>> 16).toString(8);
    found.push([entry.fileName, mode, Buffer.concat(chunks as Buffer[]).toString()]);
  }
  return found;
}

write({
  'src/index.py': 'print(1)\n',
  'src/lib/more.py': 'print(2)\n',
  'definition.json': '{}',
  '../../shared/own.py': 'print(3)\n',
});

for (const [type, property, path, pattern] of [
  ['AWS::ApiGateway::RestApi', 'BodyS3Location', 'definition.json', { Bucket: 'bucket', Key: /\.json$/ }],
  ['AWS::ApiGatewayV2::Api', 'BodyS3Location', 'definition.json', { Bucket: 'bucket', Key: /\.json$/ }],
  [
    'AWS::AppSync::GraphQLSchema',
    'DefinitionS3Location',
    'definition.json',
    /^s3:\/\/bucket\/key\/.*\.json$/,
  ],
  ['AWS::AppSync::Resolver', 'RequestMappingTemplateS3Location', 'definition.json', /^s3:/],
  ['AWS::AppSync::FunctionConfiguration', 'ResponseMappingTemplateS3Location', 'definition.json', /^s3:/],
  [
    'AWS::ElasticBeanstalk::ApplicationVersion',
    'SourceBundle',
    './src',
    { S3Bucket: 'bucket', S3Key: /zip$/ },
  ],
  ['AWS::Lambda::Function', 'Code', './src', { S3Bucket: 'bucket', S3Key: /^key\/[0-9a-f]{64}\.zip$/ }],
  ['AWS::Lambda::Function', 'Code', 'src/index.py', { S3Bucket: 'bucket', S3Key: /\.zip$/ }],
  ['AWS::Lambda::LayerVersion', 'Content', '../../shared', { S3Bucket: 'bucket', S3Key: /\.zip$/ }],
  ['AWS::Serverless::Api', 'DefinitionUri', 'definition.json', /^s3:\/\/bucket\/key\/.*\.json$/],
  ['AWS::Serverless::Function', 'CodeUri', 'src/', /^s3:\/\/bucket\/key\/.*\.zip$/],
  ['AWS::Serverless::LayerVersion', 'ContentUri', 'src', /^s3:\/\/bucket\/key\/.*\.zip$/],
  ['AWS::Serverless::StateMachine', 'DefinitionUri', 'definition.json', { Bucket: 'bucket', Key: /json$/ }],
  [
    'AWS::StepFunctions::StateMachine',
    'DefinitionS3Location',
    'definition.json',
    { Bucket: 'bucket', Key: /./ },
  ],
] as const)
  test(`${property} of ${type} with ${path} refers to the bucket`, async () => {
    const found = (await propertiesOf(ofResource(type, `${property}: ${path}`)))[property];
    if (pattern instanceof RegExp) return assert.match(String(found), pattern);
    assert.deepEqual(Object.keys(recordOf(found)), Object.keys(pattern));
    for (const [name, value] of Object.entries(pattern))
      assert.match(String(recordOf(found)[name]), value instanceof RegExp ? value : new RegExp(`^${value}$`));
  });

test('properties within others are packaged', async () => {
  const glue = await propertiesOf(
    ofResource('AWS::Glue::Job', 'Command: { Name: glueetl, ScriptLocation: src/index.py }'),
  );
  assert.match(String(recordOf(glue['Command'])['ScriptLocation']), /^s3:\/\/bucket\/key\/.*\.py$/);
  const repository = await propertiesOf(ofResource('AWS::CodeCommit::Repository', 'Code: { S3: src }'));
  assert.deepEqual(Object.keys(recordOf(recordOf(repository['Code'])['S3'])), ['Bucket', 'Key']);
});

test('everything else of the text stays as it is', async () => {
  const text = `# a comment
Mappings: { Accounts: { one: { Id: 012345678901, Large: 92233720368547758079 } } }
Resources:
  One:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: &code ./src   # with a comment
      Handler: !Sub "\${AWS::StackName}.main"
  Two: { Type: AWS::Serverless::Function, Properties: { "CodeUri": *code, Handler: x } }
  Three:
    Type: AWS::Lambda::Function
    Properties:
      Code: >-
        ./src
      Handler: y
`;
  const { text: found, artifacts } = await packaged(text);
  const key = artifacts[0]?.target.key ?? '';
  const object = `{"S3Bucket":"bucket","S3Key":"${key}"}`;
  assert.equal(
    found,
    text.replace('&code ./src', `&code "s3://bucket/${key}"`).replace('>-\n        ./src\n', `${object}\n`),
  );
  assert.equal(artifacts.length, 1, 'the same folder is uploaded once');
  const json = `{"Resources": {"One": {"Type": "AWS::Lambda::Function", "Properties": {"Code": "src", "Timeout": 3}}}}`;
  assert.equal((await packaged(json)).text, json.replace('"src"', object));
});

test('values that name no file stay as they are', async () => {
  for (const [type, properties] of [
    ['AWS::Lambda::Function', 'Code: { ZipFile: "exports.handler = 1" }'],
    ['AWS::Lambda::Function', 'Code: { S3Bucket: other, S3Key: !Ref Key }'],
    ['AWS::Lambda::Function', 'Code: { ImageUri: registry/image }'],
    ['AWS::Lambda::Function', 'Code: !If [ A, { ZipFile: a }, { ZipFile: b } ]'],
    ['AWS::Serverless::Function', 'CodeUri: s3://other/code.zip'],
    ['AWS::Serverless::Function', 'CodeUri: !Sub "s3://${Bucket}/code.zip"'],
    ['AWS::Serverless::Function', 'CodeUri: { Bucket: other, Key: code.zip }'],
    ['AWS::Serverless::Function', 'InlineCode: print(1)'],
    ['AWS::Serverless::Function', 'ImageUri: registry/image'],
    ['AWS::Serverless::Function', 'PackageType: Image'],
    ['AWS::Serverless::Api', 'StageName: one'],
    ['AWS::Serverless::Api', 'DefinitionBody: { openapi: 3.0.1 }'],
    ['AWS::ApiGateway::RestApi', 'Name: one'],
    ['AWS::CloudFormation::Stack', 'TemplateURL: https://bucket.s3.amazonaws.com/nested.yaml'],
    ['AWS::CloudFormation::Stack', 'TemplateURL: !Ref Url'],
    ['AWS::Serverless::Application', 'Location: { ApplicationId: arn, SemanticVersion: 1.0.0 }'],
    ['AWS::SQS::Queue', 'Code: ./src'],
  ] as const) {
    const text = ofResource(type, properties);
    assert.deepEqual(await packaged(text), { text, artifacts: [] }, properties);
  }
});

test('addresses become the names of an object where AWS takes only names', async () => {
  assert.deepEqual(
    await propertiesOf(ofResource('AWS::Lambda::Function', 'Code: s3://other/a/b.zip?versionId=1')),
    { Code: { S3Bucket: 'other', S3Key: 'a/b.zip', S3ObjectVersion: '1' } },
  );
});

test('code without a path is the folder of the template', async () => {
  write({ 'inner/main.py': 'print(4)\n', 'inner/function.yaml': '' });
  for (const text of [
    ofResource('AWS::Lambda::Function', 'Handler: x'),
    'Resources: { One: { Type: AWS::Lambda::Function, Properties: { Handler: x } } }',
  ]) {
    const { text: found, artifacts } = await packageTemplate(text, 'inner/function.yaml', uploads);
    const { One } = recordOf(recordOf(parse(found))['Resources']);
    assert.deepEqual(recordOf(One)['Properties'], {
      Code: { S3Bucket: 'bucket', S3Key: artifacts[0]?.target.key },
      Handler: 'x',
    });
    assert.deepEqual(
      (await entriesOf(artifacts[0])).map(([name]) => name),
      ['function.yaml', 'main.py'],
    );
  }
  const globals = 'Globals: { Function: { CodeUri: src } }\n';
  const { text: found } = await packaged(
    `${globals}${ofResource('AWS::Serverless::Function', 'Handler: x')}`,
  );
  assert.match(found, /^Globals: \{ Function: \{ CodeUri: "s3:\/\/bucket\/key\/[0-9a-f]+\.zip" \} \}/);
  assert.doesNotMatch(found.slice(found.indexOf('\n')), /s3:/);
});

test('included snippets are packaged wherever a template has them', async () => {
  const { text, artifacts } = await packaged(`
Transform: { Name: AWS::Include, Parameters: { Location: definition.json } }
Resources:
  One:
    Type: AWS::Serverless::Api
    Properties:
      DefinitionBody: { Fn::Transform: { Name: AWS::Include, Parameters: { Location: ./definition.json } } }
  Two: !Transform { Name: AWS::Include, Parameters: { Location: ./definition.json } }
  Three: { Fn::Transform: [ { Name: AWS::Include, Parameters: { Location: !Ref Place } } ] }
  Four: { Fn::Transform: { Name: Own, Parameters: { Location: definition.json } } }
`);
  assert.equal(text.match(/s3:\/\/bucket\/key\/[0-9a-f]{64}\.json/g)?.length, 3);
  assert.match(text, /Location: definition\.json/);
  assert.deepEqual(
    artifacts.map(({ isForPlan }) => isForPlan),
    [true],
  );
});

test('resources of loops and metadata of applications are packaged', async () => {
  const { artifacts } = await packaged(`
Metadata: { AWS::ServerlessRepo::Application: { ReadmeUrl: definition.json } }
Resources:
  Fn::ForEach::Functions:
    - Name
    - [ A, B ]
    - \${Name}: { Type: AWS::Serverless::Function, Properties: { CodeUri: src } }
`);
  assert.deepEqual(artifacts.map(({ what }) => what).toSorted(), [
    'CodeUri of ${Name}',
    'ReadmeUrl of AWS::ServerlessRepo::Application',
  ]);
});

test('nested templates are packaged relative to their own folders', async () => {
  write({
    'nested/inner.yaml': ofResource('AWS::Serverless::Function', 'CodeUri: ./code'),
    'nested/code/main.py': 'print(5)\n',
  });
  const { text, artifacts } = await packaged(
    ofResource('AWS::Serverless::Application', 'Location: nested/inner.yaml'),
  );
  assert.match(text, /Location: "https:\/\/bucket\/key\/[0-9a-f]{64}\.template"/);
  assert.deepEqual(
    artifacts.map(({ what, isForPlan }) => [what, isForPlan]),
    [
      ['CodeUri of One', false],
      ['Location of One', true],
    ],
  );
  const inner = Buffer.from((await artifacts[1]?.content()) ?? []).toString();
  assert.match(inner, /CodeUri: "s3:\/\/bucket\/key\/[0-9a-f]{64}\.zip"/);
  write({ 'circle.yaml': ofResource('AWS::CloudFormation::Stack', 'TemplateURL: circle.yaml') });
  await assert.rejects(
    packaged(ofResource('AWS::CloudFormation::Stack', 'TemplateURL: circle.yaml')),
    /template\.yaml → circle\.yaml → circle\.yaml: nested stacks contain each other/,
  );
});

const codeOf = async (path: string) =>
  (await packaged(ofResource('AWS::Lambda::Function', `Code: ${path}`))).artifacts[0];

test('the name of a package changes with its files, and with nothing else', async () => {
  write({ 'app/b.py': 'b', 'app/a.py': 'a', 'app/lib/run': '#!/bin/sh\n' });
  chmodSync('app/lib/run', 0o755);
  const first = await codeOf('app');
  assert.deepEqual(await entriesOf(first), [
    ['a.py', '100644', 'a'],
    ['b.py', '100644', 'b'],
    ['lib/run', '100755', '#!/bin/sh\n'],
  ]);
  const bytes = Buffer.from((await first?.content()) ?? []);
  utimesSync('app/a.py', new Date(0), new Date(0));
  chmodSync('app/a.py', 0o600);
  // A second copy, made in another order.
  write({ 'copy/lib/run': '#!/bin/sh\n', 'copy/a.py': 'a', 'copy/b.py': 'b' });
  chmodSync('copy/lib/run', 0o700);
  for (const same of ['app', './app/', 'copy']) {
    const again = await codeOf(same);
    assert.equal(again?.target.key, first?.target.key, same);
    assert.deepEqual(Buffer.from((await again?.content()) ?? []), bytes, same);
  }
  chmodSync('copy/b.py', 0o755);
  assert.notEqual((await codeOf('copy'))?.target.key, first?.target.key);
  write({ 'app/a.py': 'c' });
  assert.notEqual((await codeOf('app'))?.target.key, first?.target.key);
});

test('packages leave out the files of git and of the run', async () => {
  write({ [requestFile]: 'a secret of the run', '.git/config': 'url', 'lib/.git': 'gitdir: x' });
  const names = (await entriesOf(await codeOf('.'))).map(([name]) => name);
  assert.ok(names.includes('src/index.py'));
  assert.deepEqual(
    names.filter((name) => /\.git|\.envarium/.test(name)),
    [],
  );
});

test('nothing of the run or of git is uploaded, whatever names it or leads to it', async () => {
  write({ [requestFile]: 'a secret of the run', '.git/config': 'url' });
  symlinkSync(`../${requestFile}`, 'src/x');
  symlinkSync('.git', 'history');
  for (const path of ['.envarium', requestFile, 'src', 'src/x', '.git', '.git/config', 'history'])
    await assert.rejects(codeOf(path), /belongs to git or to the run/, path);
  for (const path of [requestFile, 'src/x'])
    await assert.rejects(
      packaged(`Transform: { Name: AWS::Include, Parameters: { Location: ${path} } }`),
      /belongs to git or to the run/,
      path,
    );
  for (const link of ['src/x', 'history']) rmSync(link);
});

test('a file that AWS reads for the plan is uploaded for it, also if it is code at another place', async () => {
  const { artifacts } = await packaged(
    `${ofResource('AWS::Serverless::Api', 'DefinitionUri: definition.json')}Transform: { Name: AWS::Include, Parameters: { Location: definition.json } }\n`,
  );
  assert.deepEqual(
    artifacts.map(({ isForPlan }) => isForPlan),
    [true],
  );
});

const twoResources = (first: string, second: string) => `Resources:\n  One: ${first}\n  Two: ${second}\n`;

test('an alias of a value that two properties need in different forms is refused by name', async () => {
  const lambda = '{ Type: AWS::Lambda::Function, Properties: { Code: VALUE } }';
  const serverless = '{ Type: AWS::Serverless::Function, Properties: { CodeUri: VALUE } }';
  const layer = '{ Type: AWS::Serverless::LayerVersion, Properties: { ContentUri: VALUE } }';
  const using = (first: string, second: string) =>
    packaged(twoResources(first.replace('VALUE', '&code src'), second.replace('VALUE', '*code')));
  await assert.rejects(
    using(lambda, serverless),
    /^StackProblem: Two in template\.yaml: CodeUri is an alias .*: write the path at both places$/,
  );
  await assert.rejects(using(serverless, lambda), /^StackProblem: Two in template\.yaml: Code is an alias /);
  const { artifacts } = await using(serverless, layer);
  assert.equal(artifacts.length, 1);
});

test('files whose names mean something else in a zip are refused by name', async () => {
  for (const name of ['c:x', '..\\x', 'a\\b']) {
    write({ [`odd/${name}`]: 'x' });
    await assert.rejects(
      codeOf('odd'),
      (error: Error) =>
        error.name === 'StackProblem' && error.message.includes(`odd/${name} cannot be packaged`),
      name,
    );
    await assert.rejects(codeOf(`'odd/${name}'`), /cannot be packaged/, name);
    rmSync('odd', { recursive: true });
  }
  write({ 'odd/lib/c:x': 'x' });
  assert.deepEqual(
    (await entriesOf(await codeOf('odd'))).map(([path]) => path),
    ['lib/c:x'],
  );
  rmSync('odd', { recursive: true });
});

test('archives are uploaded as they are', async () => {
  writeFileSync('code.jar', (await (await codeOf('src'))?.content()) ?? '');
  const jar = await codeOf('code.jar');
  assert.match(jar?.target.key ?? '', /^key\/[0-9a-f]{64}\.jar$/);
  assert.deepEqual(
    (await entriesOf(jar)).map(([name]) => name),
    ['index.py', 'lib/more.py'],
  );
  assert.deepEqual(await entriesOf(await codeOf('src/index.py')), [['index.py', '100644', 'print(1)\n']]);
});

test('links within the repository are followed, and no path leads out of it', async () => {
  writeFileSync(join(outer, 'outside.py'), 'a secret of the machine');
  mkdirSync('linked');
  symlinkSync('../../../shared/own.py', 'linked/own.py');
  symlinkSync('../../../shared', 'linked/folder');
  assert.deepEqual(
    (await entriesOf(await codeOf('linked'))).map(([name]) => name),
    ['folder/own.py', 'own.py'],
  );
  symlinkSync('../../../../outside.py', 'linked/outside.py');
  await assert.rejects(
    codeOf('linked'),
    /One in template\.yaml: Code: linked\/outside\.py leads out of the repository: replace the link/,
  );
  await assert.rejects(
    codeOf('../../../outside.py'),
    /Code: \.\.\/\.\.\/\.\.\/outside\.py leads out of the repository: correct the path/,
  );
  rmSync('linked/outside.py');
  symlinkSync('..', 'linked/up');
  await assert.rejects(codeOf('linked'), /leads back to a folder that contains it: remove the link/);
});

test('values that cannot be packaged are refused by the name of their property', async () => {
  mkdirSync('empty', { recursive: true });
  for (const [type, properties, pattern] of [
    [
      'AWS::Lambda::Function',
      'Code: 12',
      /^One in template\.yaml: Code is not a text: it must be the path of a/,
    ],
    [
      'AWS::Serverless::Function',
      'CodeUri: [ src ]',
      /^One in template\.yaml: CodeUri is a list: it must be/,
    ],
    [
      'AWS::Serverless::Function',
      'CodeUri: missing',
      /CodeUri names "missing", which is not in the repository/,
    ],
    ['AWS::Lambda::LayerVersion', 'Content: /etc', /Content names "\/etc", which is not in the repository/],
    ['AWS::Lambda::Function', 'Code: https://host/code.zip', /Code is an address of another form/],
    ['AWS::Lambda::Function', 'Code: empty', /Code: empty contains no files/],
    [
      'AWS::ApiGateway::RestApi',
      'BodyS3Location: src',
      /BodyS3Location names a folder: it must be the path of a file/,
    ],
    ['AWS::Glue::Job', 'Command: { ScriptLocation: no.py }', /Command\.ScriptLocation names "no\.py"/],
    ['AWS::CloudFormation::Stack', 'TemplateURL: no.yaml', /TemplateURL names "no\.yaml", which is not in/],
  ] as const)
    await assert.rejects(packaged(ofResource(type, properties)), { message: pattern }, properties);
});
