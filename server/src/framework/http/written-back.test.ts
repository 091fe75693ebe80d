/** Meaning of null in changes: what was read can be written back, for everything that can be changed. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { type JsonSchema, jsonSchemaOf, typesOf } from '#contract/documents/describe-schema.ts';
import { type OperationName, operations } from '#contract/operations.ts';
import { acceptsEmptyText } from '#contract/schema/empty-fields.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { startTests } from '../../../testing/start.ts';
import { getToken, openToken } from '../../rows/git-tokens/git-token-store.ts';

type Fields = Record<string, unknown>;

interface Entity {
  readonly create: OperationName;
  /** A name that was not used before makes the body. */
  readonly body: (name: string) => Fields;
  readonly read: OperationName;
  readonly update: OperationName;
  /** The parameter that has its id in both (default: id), or the field of the body that does. */
  readonly idIn?: string;
  /** Required fields of each change. */
  readonly base?: Fields;
  /** Values other than the defaults, for every field of the change that has a default. */
  readonly values: Fields;
  /** Fields without a default: null leaves them as they are. */
  readonly kept?: readonly string[];
  /** Place in the reply of a field that it has under another name. */
  readonly shownAs?: Readonly<Record<string, string>>;
  /** Meaning of null where a new entity has another default. */
  readonly cleared?: Fields;
  /** Fields that a change has to have for this entity, although the schema leaves them optional for others. */
  readonly needed?: readonly string[];
  /** Whether a change replaces everything: what is absent is cleared, too. */
  readonly replaces?: boolean;
}

const { app, organizationId, projectId, call, ok, refused, add, createIdle } = await startTests();
const member = await app.addKey({ [organizationId]: 'User' });
const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
const token = await add('GitToken', 'for connections', { value: 'v' });
const sshKey = await add('SshKey', 'for templates', { value: pem });
const idle = await createIdle();

const repository = 'https://git.example.com/network.git';
const source = {
  revision: 'main',
  path: 'stacks',
  tokenId: token.id,
  tokenName: 'for connections',
  isGitLab: true,
};
const entities: Record<string, Entity> = {
  organization: {
    create: 'createOrganization',
    body: (name) => ({ name }),
    read: 'getOrganization',
    update: 'updateOrganization',
    values: { description: 'ours', photoUrl: 'https://example.com/o.png' },
    kept: ['name'],
  },
  'policies of an organization': {
    create: 'createOrganization',
    body: (name) => ({ name }),
    read: 'getOrganization',
    update: 'updateOrganizationPolicies',
    values: {
      maxTtl: '3-d',
      defaultTtl: '1-d',
      doNotReportSkippedStatusChecks: true,
      doNotConsiderMergeCommitsForPrPlans: true,
      enableOidc: true,
      enforcePrCommenterPermissions: true,
      allowMergeableBypassForPrApply: true,
      requireApprovalForPrApplies: true,
      disablePrComments: true,
      allowServiceSecrets: true,
      projectCustomFlowsPolicy: 'MERGE_WITH_TEMPLATES',
    },
  },
  team: {
    create: 'createTeam',
    body: (name) => ({ organizationId, name }),
    read: 'getTeam',
    update: 'updateTeam',
    values: { description: 'ours', userIds: [member.id], isDefaultTeam: true },
    kept: ['name'],
    shownAs: { userIds: 'users' },
  },
  role: {
    create: 'createRole',
    body: (name) => ({ organizationId, name, permissions: ['VIEW_PROJECT'] }),
    read: 'getRole',
    update: 'updateRole',
    values: { isDefaultRole: true },
    kept: ['name', 'permissions'],
  },
  project: {
    create: 'createProject',
    body: (name) => ({ organizationId, name }),
    read: 'getProject',
    update: 'updateProject',
    values: { description: 'ours', tags: ['a'], isArchived: true },
    kept: ['name'],
  },
  policy: {
    create: 'createProject',
    body: (name) => ({ organizationId, name }),
    read: 'getPolicy',
    update: 'updatePolicy',
    idIn: 'projectId',
    values: {
      requiresApprovalDefault: false,
      includeCostEstimation: true,
      skipApplyWhenPlanIsEmpty: true,
      disableDestroyEnvironments: true,
      forceCheckoutOnTtlDestroy: true,
      skipRedundantDeployments: true,
      continuousDeploymentDefault: true,
      runPullRequestPlanDefault: true,
      vcsPrCommentsEnabledDefault: true,
      forceRemoteBackend: true,
      driftDetectionCron: '0 4 * * *',
      autoDriftRemediation: 'CODE_TO_CLOUD',
      outputsAsInputsEnabled: true,
      selfApprovalForbidden: true,
      numberOfEnvironments: 3,
      numberOfEnvironmentsTotal: 4,
      maxTtl: '3-d',
      defaultTtl: '1-d',
    },
    // Infinite.
    cleared: { maxTtl: null, defaultTtl: null },
    replaces: true,
  },
  template: {
    create: 'createTemplate',
    body: (name) => ({ organizationId, name, type: 'terraform', repository }),
    read: 'getTemplate',
    update: 'updateTemplate',
    base: { type: 'terraform', repository },
    values: {
      ...source,
      description: 'ours',
      retry: { onDeploy: { times: 2, errorRegex: 'late' } },
      runTestsOnPullRequest: true,
      projectIds: [projectId],
      tagPrefix: 'v',
      sshKeys: [{ id: sshKey.id, name: 'for templates' }],
      terraformVersion: '1.5.7',
    },
    kept: ['organizationId', 'creationScope', 'creationScopeId'],
    needed: ['name'],
    replaces: true,
  },
  'custom flow': {
    create: 'createCustomFlow',
    body: (name) => ({ organizationId, name, repository }),
    read: 'getCustomFlow',
    update: 'updateCustomFlow',
    idIn: 'id',
    base: { repository },
    values: source,
    replaces: true,
  },
  'approval policy': {
    create: 'createApprovalPolicy',
    body: (name) => ({ organizationId, name, repository }),
    read: 'getTemplate',
    update: 'updateApprovalPolicy',
    idIn: 'id',
    base: { repository },
    values: source,
    replaces: true,
  },
  environment: {
    create: 'createEnvironmentWithoutTemplate',
    body: (name) => ({
      organizationId,
      projectId,
      name,
      repository,
      type: 'terraform',
      preventAutoDeploy: true,
    }),
    read: 'getEnvironment',
    update: 'updateEnvironment',
    values: {
      requiresApproval: false,
      isArchived: true,
      continuousDeployment: true,
      pullRequestPlanDeployments: true,
      vcsCommandsAlias: 'ours',
      vcsPrCommentsEnabled: true,
      autoDeployOnPathChangesOnly: false,
      autoDeployByCustomGlob: '**/*.tf',
      terragruntWorkingDirectory: 'live',
      isRemoteBackend: true,
      description: 'ours',
      tags: ['a'],
    },
    kept: ['name'],
  },
  'drift schedule': {
    create: 'createEnvironmentWithoutTemplate',
    body: (name) => ({
      organizationId,
      projectId,
      name,
      repository,
      type: 'terraform',
      preventAutoDeploy: true,
    }),
    read: 'getDriftSchedule',
    update: 'updateDriftSchedule',
    base: { enabled: false },
    values: { cron: '0 4 * * *', timeZone: 'Europe/Berlin', autoDriftRemediation: 'CODE_TO_CLOUD' },
    cleared: { timeZone: 'UTC', autoDriftRemediation: 'DISABLED' },
  },
  'configuration set': {
    create: 'createConfigurationSet',
    body: (name) => ({ name, scope: 'organization', scopeId: organizationId }),
    read: 'getConfigurationSet',
    update: 'updateConfigurationSet',
    values: { description: 'ours' },
    kept: ['name', 'configurationPropertiesChanges'],
  },
  'git token': {
    create: 'createGitToken',
    body: (name) => ({ organizationId, name, value: 'v' }),
    read: 'getGitToken',
    update: 'updateGitToken',
    values: { hosts: ['git.example.com'], projectIds: [projectId] },
    kept: ['name', 'value'],
  },
  'ssh key': {
    create: 'createSshKey',
    body: (name) => ({ organizationId, name, value: pem }),
    read: 'getSshKey',
    update: 'updateSshKey',
    values: { projectIds: [projectId] },
    kept: ['value', 'encryptionMethod'],
  },
  'VCS connection': {
    create: 'createVcsConnection',
    body: (name) => ({ organizationId, name, type: 'GitLabEnterprise', url: 'https://git.example' }),
    read: 'getVcsConnection',
    update: 'updateVcsConnection',
    values: { tokenId: token.id },
    kept: ['name', 'vcsAgentKey'],
  },
  agent: {
    create: 'createAgent',
    body: (name) => ({ organizationId, name }),
    read: 'getAgent',
    update: 'updateAgent',
    values: { description: 'ours', logs: { dynamo: {} } },
    kept: ['name'],
  },
  credential: {
    create: 'createCredential',
    body: (name) => ({
      organizationId,
      name,
      type: 'AWS_OIDC',
      value: { roleArn: 'arn:aws:iam::123456789012:role/deployer' },
    }),
    read: 'getCredential',
    update: 'updateCredential',
    values: {},
    kept: ['name', 'type', 'value', 'organizationId', 'projectId', 'encryptionMethod', 'createdByUser'],
  },
  module: {
    create: 'createModule',
    body: (name) => ({ organizationId, moduleName: name, moduleProvider: 'aws', repository }),
    read: 'getModule',
    update: 'updateModule',
    values: {
      description: 'ours',
      logoUrl: 'https://example.com/m.png',
      path: 'vpc',
      tagPrefix: 'v',
      opentofuVersion: '1.9.0',
      tokenId: 't',
      tokenName: 't',
      sshkeys: [{ id: 'k', name: 'k' }],
      githubInstallationId: 1,
      vcsConnectionId: 'c',
      bitbucketClientKey: 'b',
      gitlabProjectId: 2,
      moduleTestEnabled: true,
      runTestsOnPullRequest: true,
      isGitLab: true,
      isGitLabEnterprise: true,
      isGitHubEnterprise: true,
      isBitbucketServer: true,
      isAzureDevOps: true,
    },
    kept: ['moduleName', 'moduleProvider', 'repository'],
  },
  provider: {
    create: 'createProvider',
    body: (name) => ({ organizationId, type: name }),
    read: 'getProvider',
    update: 'updateProvider',
    values: { description: 'ours' },
  },
  'notification endpoint': {
    create: 'createNotificationEndpoint',
    body: (name) => ({ organizationId, name, type: 'Webhook', value: 'https://hooks.invalid/x' }),
    read: 'getNotificationEndpoint',
    update: 'updateNotificationEndpoint',
    values: { webhookSecret: 'secret' },
    kept: ['name', 'type', 'value'],
    shownAs: { webhookSecret: 'hasWebhookSecret' },
  },
  'API key': {
    create: 'createApiKey',
    body: (name) => ({ organizationId, name }),
    read: 'getApiKey',
    update: 'updateApiKey',
    values: {
      description: 'ours',
      ownerId: null,
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      networks: ['127.0.0.0/8'],
    },
    kept: ['name'],
  },
};

let made = 0;

/** An entity, and what reads and changes it. */
async function made1(entity: Entity) {
  const { create, body, read, update, idIn = 'params', base = {} } = entity;
  const fields = body(`written-${(made += 1)}`);
  const { id } = (await ok(create, { body: fields })) as { id: string };
  const name = base['name'] ?? fields['name'];
  const isNamed = (operations[update] as Operation).body && entity.replaces && update !== 'updatePolicy';
  const sent = { ...base, ...(isNamed ? { name } : {}), ...(idIn === 'params' ? {} : { [idIn]: id }) };
  const params = { id, agentKey: id };
  return {
    read: async () =>
      (await ok(read, {
        params,
        ...(update === 'updatePolicy' ? { query: { projectId: id } } : {}),
      })) as unknown as Fields,
    change: (values: Fields) => call(update, { params, body: { ...sent, ...values } }),
  };
}

function bodyOf({ update }: Entity): JsonSchema {
  return jsonSchemaOf((operations[update] as Operation).body as TSchema);
}

/** The optional fields of a change. */
function fieldsOf(entity: Entity): string[] {
  const { needed = [] } = entity;
  const { properties = {}, required = [] } = bodyOf(entity);
  return Object.keys(properties).filter((name) => ![...required, ...needed].includes(name));
}

for (const [name, entity] of Object.entries(entities)) {
  const { values, kept = [], shownAs = {}, cleared: meanings = {}, replaces = false } = entity;
  const shown = (reply: Fields, field: string) => reply[shownAs[field] ?? field];

  test(`${name}: null in a change clears a field, and leaves alone what has no default`, async () => {
    const { read, change } = await made1(entity);
    const fresh = await read();
    for (const field of fieldsOf(entity)) {
      const set = await change(values);
      assert.equal(set.statusCode, 200, set.body);
      const before = await read();
      if (field in values && values[field] !== null)
        assert.notDeepEqual(shown(before, field), shown(fresh, field), `${field} was set`);
      const cleared = await change({ ...(replaces ? values : {}), [field]: null });
      assert.equal(cleared.statusCode, 200, `${field}: ${cleared.body}`);
      const expected = kept.includes(field) ? before : { ...fresh, ...meanings };
      assert.deepEqual(shown(await read(), field) ?? '', shown(expected, field) ?? '', field);
    }
  });

  test(`${name}: an empty text in a change is absent, or a value that the field accepts`, async () => {
    const { read, change } = await made1(entity);
    for (const field of fieldsOf(entity)) {
      const schema = bodyOf(entity).properties?.[field] ?? {};
      if (!typesOf(schema).includes('string')) continue;
      const set = await change(values);
      assert.equal(set.statusCode, 200, set.body);
      const before = await read();
      const sent = await change({ ...(replaces ? values : {}), [field]: '' });
      assert.equal(sent.statusCode, 200, `${field}: ${sent.body}`);
      const after = shown(await read(), field) ?? '';
      if (acceptsEmptyText(schema)) assert.ok(['', shown(before, field)].includes(after as string), field);
      else if (!replaces) assert.deepEqual(after, shown(before, field) ?? '', `${field} is unchanged`);
    }
  });

  test(`${name}: what was read can be written back, and changes nothing`, async () => {
    const { read, change } = await made1(entity);
    assert.equal((await change(values)).statusCode, 200);
    const before = await read();
    const { properties = {} } = bodyOf(entity);
    const back = Object.fromEntries(Object.entries(before).filter(([field]) => field in properties));
    const written = await change(back);
    assert.equal(written.statusCode, 200, `${JSON.stringify(back)} ${written.body}`);
    const { updatedAt: _, ...after } = await read();
    assert.deepEqual({ ...after, updatedAt: _ }, { ...before, updatedAt: _ });
  });
}

test('null ends remote applies, which other settings are bound to', async () => {
  const params = { id: idle.id };
  const values = { isRemoteBackend: true, requiresApproval: false, isRemoteApplyEnabled: true };
  const enabled = await ok('updateEnvironment', { params, body: values });
  assert.equal(enabled.isRemoteApplyEnabled, true);
  const body = { isRemoteApplyEnabled: null };
  assert.equal((await ok('updateEnvironment', { params, body })).isRemoteApplyEnabled, false);
});

test('a hidden value that is written back stays what it is, and is not accepted for something new', async () => {
  const params = { id: token.id };
  const stored = async () => {
    const row = await getToken(app.context.db, token.id);
    return row && openToken(app.context, row);
  };
  const { value } = await ok('getGitToken', { params });
  await ok('updateGitToken', { params, body: { value } });
  assert.equal(await stored(), 'v');
  await ok('updateGitToken', { params, body: { value: 'w' } });
  assert.equal(await stored(), 'w');
  const body = { organizationId, name: 'masked', value };
  await refused('createGitToken', 400, /\/body\/value is the placeholder/, { body });
});

test('null of a variable that exists clears it, and never shows a secret', async () => {
  const place = { scope: 'ENVIRONMENT', scopeId: idle.id, organizationId } as const;
  const whole = {
    ...place,
    name: 'size',
    type: 0,
    value: 'large',
    description: 'ours',
    regex: '^l',
    isRequired: true,
    schema: { type: 'string', enum: ['large', 'little'] },
  };
  const [created] = await ok('saveVariables', { body: [whole] });
  const cleared = {
    value: null,
    description: null,
    regex: null,
    isRequired: null,
    isReadonly: null,
    schema: null,
  };
  const [changed] = await ok('saveVariables', { body: [{ id: created?.id, ...cleared }] });
  const { value, description, regex, isRequired, schema } = changed ?? {};
  assert.deepEqual([value, description ?? '', regex ?? '', isRequired], ['', '', '', false]);
  assert.deepEqual(schema, { type: 'string' });
  const secret = { ...place, name: 'secret', type: 0, value: 'hidden', isSensitive: true };
  const [hidden] = await ok('saveVariables', { body: [secret] });
  const [still] = await ok('saveVariables', {
    body: [{ id: hidden?.id, value: 'other', isSensitive: null }],
  });
  assert.deepEqual([still?.isSensitive, still?.value], [true, '********']);
});

test('null of a new variable means that the field is absent', async () => {
  const body = {
    ...{
      scope: 'ENVIRONMENT',
      scopeId: idle.id,
      organizationId,
      name: 'nulls',
      type: 0,
      value: 'v',
      id: null,
    },
    ...{
      description: null,
      regex: null,
      isRequired: null,
      isReadonly: null,
      isSensitive: null,
      schema: null,
    },
    ...{ toDelete: null, projectId: null, isOutput: null, overwrites: null, userId: null },
  };
  const [row] = await ok('saveVariables', { body: [body] });
  assert.deepEqual([row?.value, row?.isSensitive, row?.schema], ['v', false, { type: 'string' }]);
});
