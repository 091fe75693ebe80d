import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { storedTemplateTypes } from '#contract/schema/enumerations.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const tests = await startTests();
const { app, organizationId, projectId, call, ok, refused, sql } = tests;
const { keyFor, createIdle, templateBody, createTemplate } = tests;
const other = await ok('createProject', { body: { organizationId, name: 'Other' } });

const read = (id: string) => ok('getTemplate', { id });
const names = async (query: Record<string, string>) =>
  (await ok('listTemplates', { query })).map(({ name }) => name);
const replace = (id: string, body: object) => ok('updateTemplate', { id, body });

async function newToken(name: string, more: object = {}) {
  return ok('createGitToken', { body: { organizationId, name, value: 'secret', ...more } });
}

async function newKey(name: string, more: object = {}) {
  const value = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs1',
    format: 'pem',
  });
  return ok('createSshKey', { body: { organizationId, name, value, ...more } });
}

test('a template is read back as it was sent, and nothing else is filled in', async () => {
  covers(
    'Template',
    'name',
    'creationScopeId',
    'creationScope',
    'repository',
    'type',
    'organizationId',
    'description',
    'retry',
    'projectIds',
    'id',
    'author',
    'createdAt',
    'updatedAt',
    'isDeleted',
    'authorId',
    'isSingleUse',
  );
  const settings = {
    description: 'VPC',
    revision: '',
    path: '/infra/web',
    terraformVersion: 'RESOLVE_FROM_TERRAFORM_CODE',
    tokenName: 'ours',
    isGitLab: true,
    isAzureDevOps: false,
    githubInstallationId: 20,
    runTestsOnPullRequest: true,
    tagPrefix: 'web-',
    retry: { onDeploy: { times: 2, errorRegex: 'timeout' }, onDestroy: null },
  };
  const body = templateBody(settings);
  const created = await ok('createTemplate', { body });
  const { id, createdAt, updatedAt, author, ...rest } = created;
  assert.deepEqual(rest, {
    ...body,
    retry: { onDeploy: { times: 2, errorRegex: 'timeout' } },
    creationScope: 'ORGANIZATION',
    creationScopeId: organizationId,
    authorId: app.admin.id,
    isDeleted: false,
    isSingleUse: false,
  });
  assert.equal(author?.user_id, app.admin.id);
  assert.ok(createdAt && !Number.isNaN(Date.parse(createdAt)));
  assert.equal(updatedAt, createdAt);
  assert.deepEqual(await read(id ?? ''), created);
  const least = await createTemplate();
  const unset = ['revision', 'path', 'terraformVersion', 'projectId', 'description'] as const;
  for (const field of unset) assert.ok(!(field in least), field);
  assert.deepEqual(least.retry, {});
});

test('every type that people create is stored, and no other', async () => {
  const needed: Record<string, object> = {
    opentofu: { opentofuVersion: 'latest' },
    terragrunt: { terragruntVersion: '0.67.16' },
    ansible: { ansibleVersion: 'latest' },
    cloudformation: { fileName: 'stack.yaml' },
  };
  const internal = ['module', 'approval-policy', 'custom-flow', 'environment-discovery'];
  for (const type of storedTemplateTypes) {
    const body = templateBody({ type, ...needed[type] });
    if (internal.includes(type)) await refused('createTemplate', 400, /type/, { body });
    else assert.equal((await ok('createTemplate', { body })).type, type);
  }
  const chart = { type: 'helm', isHelmRepository: true, helmChartName: 'web', revision: '1.2.3' };
  const oci = await createTemplate({ ...chart, repository: 'oci://charts.example.com/stable' });
  assert.equal((await read(oci.id)).repository, 'oci://charts.example.com/stable');
});

test('replacing clears what is absent, but not the projects', async () => {
  const { id, name } = await createTemplate({
    description: 'VPC',
    revision: 'main',
    terraformVersion: '1.5.7',
    retry: { onDeploy: { times: 1 } },
  });
  const body = { name, type: 'terraform', repository: 'https://git.example.com/other.git', path: 'a' };
  const replaced = await replace(id, { ...body, organizationId });
  assert.deepEqual(
    [replaced.repository, replaced.path, replaced.retry, replaced.projectIds],
    ['https://git.example.com/other.git', 'a', {}, [projectId]],
  );
  for (const field of ['description', 'revision', 'terraformVersion']) assert.ok(!(field in replaced), field);
  assert.deepEqual(await read(id), replaced);
  assert.deepEqual((await replace(id, { ...body, projectIds: [other.id] })).projectIds, [other.id]);
  const moved = { ...body, creationScope: 'PROJECT', creationScopeId: projectId };
  await refused('updateTemplate', 400, /\/body\/creationScopeId cannot be changed/, { id, body: moved });
  const elsewhere = { ...body, organizationId: randomUUID() };
  await refused('updateTemplate', 400, /\/body\/organizationId/, { id, body: elsewhere });
});

test('names are unique in an organization, also when two are created at once', async () => {
  const { id, name } = await createTemplate();
  const second = await createTemplate();
  const message = new RegExp(`named "${name}" already exists`);
  await refused('createTemplate', 409, message, { body: templateBody({ name }) });
  const renamed = templateBody({ name });
  await refused('updateTemplate', 409, message, { id: second.id, body: renamed });
  const body = templateBody({ name: 'raced' });
  const answers = await Promise.all([1, 2, 3].map(() => call('createTemplate', { body })));
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 409, 409]);
  await ok('deleteTemplate', { id });
  await createTemplate({ name });
});

test('a deleted template is read as deleted, and is in no list', async () => {
  const { id, name } = await createTemplate();
  assert.ok((await names({ organizationId })).includes(name));
  assert.deepEqual(await ok('deleteTemplate', { id }), { id });
  assert.deepEqual(await ok('deleteTemplate', { id }), { id });
  assert.equal((await read(id)).isDeleted, true);
  const queries: Record<string, string>[] = [{ organizationId }, { projectId }, { organizationId, name }];
  for (const query of queries) assert.ok(!(await names(query)).includes(name));
  const body = templateBody({ name });
  await refused('updateTemplate', 409, /was deleted/, { id, body });
  const add = { id, body: { projectId: other.id } };
  await refused('addTemplateToProject', 409, /was deleted/, add);
});

test('projects get and lose a template, any number of times', async () => {
  covers('addTemplateToProject', 'body.projectId', 'reply');
  const { id, name } = await createTemplate({ projectIds: [] });
  assert.deepEqual(
    await names({ projectId }),
    (await names({ projectId })).filter((each) => each !== name),
  );
  const add = (to: string) => ok('addTemplateToProject', { id, body: { projectId: to } });
  assert.deepEqual((await add(projectId)).projectIds, [projectId]);
  assert.deepEqual((await add(projectId)).projectIds, [projectId]);
  assert.deepEqual((await add(other.id)).projectIds, [projectId, other.id]);
  assert.ok((await names({ projectId: other.id })).includes(name));
  const remove = (from: string) => ok('removeTemplateFromProject', { params: { id, projectId: from } });
  assert.deepEqual((await remove(projectId)).projectIds, [other.id]);
  assert.deepEqual((await remove(projectId)).projectIds, [other.id]);
  for (const projectId of [randomUUID(), 'none']) {
    await refused('removeTemplateFromProject', 404, { params: { id, projectId } });
    const { message } = await refused('addTemplateToProject', 400, { id, body: { projectId } });
    assert.match(message, /\/body\/projectId does not match any project/);
  }
});

test('a template created in a project belongs to it, and only people of its projects see it', async () => {
  const scope = { creationScope: 'PROJECT', creationScopeId: other.id, projectIds: [] };
  const { id, name, projectId: home } = await createTemplate(scope);
  assert.equal(home, other.id);
  assert.ok((await names({ projectId: other.id })).includes(name));
  assert.ok(!(await names({ projectId })).includes(name));
  const member = await keyFor('Viewer', { projectId });
  await refused('getTemplate', 403, { id, as: member });
  const listed = await ok('listTemplates', { query: { organizationId }, as: member });
  assert.ok(listed.length > 0 && listed.every((each) => each.id !== id));
  await ok('addTemplateToProject', { id, body: { projectId } });
  assert.equal((await ok('getTemplate', { id, as: member })).name, name);
  const wrong: [object, RegExp][] = [
    [{ creationScope: 'PROJECT' }, /creationScopeId is required/],
    [{ creationScope: 'PROJECT', creationScopeId: randomUUID() }, /creationScopeId does not match/],
    [{ creationScope: 'ORGANIZATION', creationScopeId: projectId }, /must be the organizationId/],
  ];
  for (const [more, message] of wrong)
    await refused('createTemplate', 400, message, { body: templateBody(more) });
});

test('templates are created, edited and assigned with the rights for it, where they hold', async () => {
  const { id } = await createTemplate({ projectIds: [] });
  const inProject = (...rights: string[]) => keyFor(rights as never, { projectId });
  const manager = await inProject('MANAGE_PROJECT_TEMPLATES');
  const author = await inProject('CREATE_AND_EDIT_TEMPLATES', 'VIEW_PROJECT');
  const add = (to: string) => ({ id, body: { projectId: to }, as: manager });
  await ok('addTemplateToProject', add(projectId));
  await refused('addTemplateToProject', 403, add(other.id));
  await ok('removeTemplateFromProject', { params: { id, projectId }, as: manager });
  const body = templateBody({ projectIds: [] });
  await refused('createTemplate', 403, { body, as: manager });
  await refused('createTemplate', 403, { body, as: author });
  await refused('updateTemplate', 403, { id, body, as: author });
  await refused('deleteTemplate', 403, { id, as: author });
  const scope = { creationScope: 'PROJECT', creationScopeId: projectId };
  const own = await ok('createTemplate', { body: { ...body, ...scope }, as: author });
  const again = { id: own.id ?? '', body: { ...body, description: 'mine' }, as: author };
  assert.equal((await ok('updateTemplate', again)).description, 'mine');
  const shared = { ...again, body: { ...again.body, projectIds: [other.id] } };
  await refused('updateTemplate', 403, /MANAGE_PROJECT_TEMPLATES/, shared);
  await ok('deleteTemplate', { id: own.id ?? '', as: author });
});

test('settings that do not fit are refused by name', async () => {
  const wrong: [object, RegExp][] = [
    [{ type: 'cloudformation' }, /\/body\/fileName is required/],
    [{ terraformVersion: 'newest' }, /\/body\/terraformVersion/],
    [{ retry: { onDeploy: { times: 4 } } }, /\/body\/retry\/onDeploy\/times/],
    [{ retry: { onDeploy: { times: 0 } } }, /\/body\/retry\/onDeploy\/times/],
    [{ retry: { onDestroy: { times: 1, errorRegex: '(' } } }, /\/body\/retry\/onDestroy\/errorRegex/],
    [{ repository: 'ext::sh -c id' }, /\/body\/repository is refused/],
    [{ repository: 'oci://charts.example.com/a' }, /\/body\/repository is refused/],
    [{ revision: '--upload-pack=x' }, /\/body\/revision is refused/],
    [{ path: '../../etc' }, /\/body\/path is refused/],
    [{ name: 'a\nb' }, /\/body\/name/],
    [{ projectIds: [randomUUID()] }, /\/body\/projectIds\/0 does not match/],
    [{ tokenId: randomUUID() }, /\/body\/tokenId does not match/],
    [{ sshKeys: [{ id: randomUUID() }] }, /\/body\/sshKeys\/0\/id does not match/],
    [{ vcsConnectionId: randomUUID() }, /\/body\/vcsConnectionId does not match/],
    [{ color: 'red' }, /color/],
  ];
  const { id } = await createTemplate();
  for (const [more, message] of wrong) {
    const body = templateBody(more);
    await refused('createTemplate', 400, message, { body });
    await refused('updateTemplate', 400, message, { id, body });
  }
});

test('a token or key for other projects is refused where the template is used', async () => {
  const token = await newToken('for the other', { projectIds: [other.id] });
  const key = await newKey('for the other', { projectIds: [other.id] });
  const body = templateBody({ tokenId: token.id });
  await refused('createTemplate', 400, /\/body\/tokenId/, { body });
  for (const more of [{ tokenId: token.id }, { sshKeys: [{ id: key.id, name: key.name }] }]) {
    const { id, sshKeys, tokenId } = await createTemplate({ ...more, projectIds: [other.id] });
    assert.deepEqual({ ...(tokenId ? { tokenId } : {}), ...(sshKeys ? { sshKeys } : {}) }, more);
    const add = { id, body: { projectId } };
    await refused('addTemplateToProject', 400, /\/body\/projectId/, add);
  }
});

test('credentials of an address are sealed, kept for the same host, and never shown', async () => {
  const repository = 'https://ada:hunter2secret@git.example.com/network.git';
  const created = await createTemplate({ repository });
  assert.equal(created.repository, 'https://git.example.com/network.git');
  const sealed = async () =>
    (await sql('select sealed_token from template where id = $1', created.id))[0]
      .sealed_token as Buffer | null;
  const first = await sealed();
  assert.ok(first && !first.toString('latin1').includes('hunter2secret'));
  const body = templateBody({ name: created.name });
  await replace(created.id, { ...body, description: 'changed' });
  assert.deepEqual(await sealed(), first);
  await replace(created.id, { ...body, tokenId: (await newToken('instead')).id });
  assert.equal(await sealed(), null);
  await replace(created.id, { ...body, repository });
  assert.ok(await sealed());
  await replace(created.id, { ...body, repository: 'https://elsewhere.example.com/network.git' });
  assert.equal(await sealed(), null);
  const rows = await sql('select row_to_json(e)::text as text from audit_event e');
  assert.ok(!rows.some(({ text }: { text: string }) => text.includes('hunter2secret')));
  assert.ok(!app.logged.join('').includes('hunter2secret'));
});

test('changes are in the audit trail with what was before and after', async () => {
  const { id, name } = await createTemplate({ revision: 'main' });
  await replace(id, templateBody({ name, revision: 'v2' }));
  await ok('removeTemplateFromProject', { params: { id, projectId } });
  await ok('deleteTemplate', { id });
  const rows = await sql(
    'select action, before, after from audit_event where entity_id = $1 order by id',
    id,
  );
  assert.deepEqual(fieldOf(rows, 'action'), [
    'template.created',
    'template.updated',
    'template.unassigned',
    'template.deleted',
  ]);
  assert.deepEqual([rows[1].before, rows[1].after], [{ revision: 'main' }, { revision: 'v2' }]);
});

test('a template of a single environment is in no list, and is edited with the right for its environment', async () => {
  covers('Template', 'projectId');
  const environment = await createIdle({ revision: 'main', sshKeys: [] });
  const id = environment.blueprintId;
  const { name, isSingleUse, projectId: ownProject } = await read(id);
  assert.deepEqual([name, isSingleUse, ownProject], ['single-use-template-for-network', true, projectId]);
  assert.ok(!(await names({ organizationId })).includes(name));
  const editor = await keyFor(['EDIT_VCS_ENVIRONMENT', 'VIEW_PROJECT', 'VIEW_ENVIRONMENT'], { projectId });
  const viewer = await keyFor('Viewer', { projectId });
  const body = { name, type: 'terraform', repository: 'https://git.example.com/b.git', revision: 'v2' };
  await refused('updateTemplate', 403, { id, body, as: viewer });
  const edited = await ok('updateTemplate', { id, body, as: editor });
  assert.deepEqual([edited.revision, edited.creationScopeId], ['v2', projectId]);
  const { latestDeploymentLog } = await ok('getEnvironment', { id: environment.id });
  assert.deepEqual(
    [latestDeploymentLog.blueprintRepository, latestDeploymentLog.blueprintRevision],
    ['https://git.example.com/b.git', 'v2'],
  );
  const added = { id, body: { projectId: other.id } };
  await refused('addTemplateToProject', 409, /single environment/, added);
  await refused('deleteTemplate', 409, /delete the environment/, { id });
  const again = await createIdle();
  assert.notEqual(again.blueprintId, id);
  await ok('deleteEnvironment', { id: environment.id });
  await refused('getTemplate', 404, { id });
});

test('a version that was read is the condition of a change, whatever changes it', async () => {
  const { id, name } = await createTemplate();
  const etag = async () => String((await call('getTemplate', { id })).headers['etag']);
  const first = await etag();
  const headers = { 'if-match': first };
  await ok('addTemplateToProject', { id, body: { projectId: other.id }, headers });
  const body = templateBody({ name });
  await refused('updateTemplate', 412, { id, body, headers });
  await ok('updateTemplate', { id, body, headers: { 'if-match': await etag() } });
});
