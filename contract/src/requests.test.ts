import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import formatsModule from 'ajv-formats';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { DeployBody, normalizeDeployRequest } from './deployments/deploy-request.ts';
import { splitTargets } from './deployments/split-targets.ts';
import { CreateEnvironmentBody, normalizeCreateEnvironment } from './environments/create-environment.ts';
import { operations } from './operations.ts';

const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });
ajv.addKeyword('x-no-effect');
ajv.addKeyword('x-no-effect-values');
ajv.addKeyword('x-ignored');
ajv.addKeyword('x-cleared');
const converting = new Ajv({ strict: true, allowUnionTypes: true, strictTypes: false, coerceTypes: true });
converting.addKeyword('x-comma-list');
for (const each of [ajv, converting]) formatsModule.default(each);

/** The first complaint, as a server would say it; empty: none. */
function complaint(schema: TSchema | undefined, value: unknown, checker = ajv): string {
  const validate = checker.compile(schema as TSchema);
  if (validate(value)) return '';
  const [error] = validate.errors ?? [];
  return `${error?.instancePath} ${error?.message}${error?.keyword === 'additionalProperties' ? `: ${error.params.additionalProperty}` : ''}`;
}

const least = {
  name: 'n',
  projectId: 'p',
  organizationId: 'o',
  repository: 'https://example.com/r.git',
  type: 'terraform',
} as const;

describe('body of create environment', () => {
  it('takes the least, and every accepted form of the rest', () => {
    assert.equal(complaint(CreateEnvironmentBody, least), '');
    const lenient = {
      ...least,
      sshKeys: null,
      ttl: null,
      retry: { onDeploy: null, onDestroy: { times: 2, errorRegex: '' } },
      deployRequest: {},
      configurationChanges: { type: 0, name: 'a' },
      githubInstallationId: null,
      bitbucketClientKey: null,
      vcsConnectionId: null,
      gitlabProjectId: null,
      isSingleUse: true,
      vcsCommandsAlias: '',
      autoDeployByCustomGlob: '',
      terraformVersion: 'RESOLVE_FROM_TERRAFORM_CODE',
      configurationSetChanges: { assign: null, unassign: [] },
      driftDetectionRequest: { enabled: true, cron: '0 * * * *' },
    };
    assert.equal(complaint(CreateEnvironmentBody, lenient), '');
  });

  it('names what it does not take', () => {
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, naem: 'x' }),
      ' must NOT have additional properties: naem',
    );
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, requiresApproval: 'true' }),
      '/requiresApproval must be boolean',
    );
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, projectId: '' }),
      '/projectId must NOT have fewer than 1 characters',
    );
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, type: 'bicep' }),
      '/type must be equal to one of the allowed values',
    );
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, deployRequest: { targts: [] } }),
      '/deployRequest must NOT have additional properties: targts',
    );
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, configurationChanges: [{ name: 'a', isReadOnly: true }] }),
      '/configurationChanges/0 must NOT have additional properties: isReadOnly',
    );
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, configurationChanges: [{ name: 'a', value: 1 }] }),
      '/configurationChanges/0/value must be string,null',
    );
    assert.equal(
      complaint(CreateEnvironmentBody, { ...least, ttl: { type: 'SOON' } }),
      '/ttl/type must be equal to one of the allowed values',
    );
    assert.match(
      complaint(CreateEnvironmentBody, { ...least, terraformVersion: '1.5; rm' }),
      /^\/terraformVersion must match pattern/,
    );
    assert.match(
      complaint(CreateEnvironmentBody, { ...least, workspaceName: '../x' }),
      /^\/workspaceName must match pattern/,
    );
    for (const missing of Object.keys(least)) {
      const { [missing as keyof typeof least]: _, ...rest } = least;
      assert.equal(complaint(CreateEnvironmentBody, rest), ` must have required property '${missing}'`);
    }
  });

  it('becomes one form: no nulls, changes of both places together', () => {
    const body = {
      ...least,
      ttl: null,
      sshKeys: null,
      revision: '',
      configurationChanges: { name: 'a', value: '1' },
      configurationSetChanges: { assign: ['s1'] },
      deployRequest: {
        comment: 'c',
        targets: 'x.a,x.b',
        configurationChanges: [{ name: 'b', type: 1 as const }],
        configurationSetChanges: { assign: ['s2'], unassign: null },
      },
      retry: { onDeploy: null, onDestroy: { times: 2 } },
      driftDetectionRequest: { cron: '0 0 * * *' },
    };
    assert.equal(complaint(CreateEnvironmentBody, body), '');
    assert.deepEqual(normalizeCreateEnvironment(body), {
      ...least,
      revision: '',
      configurationChanges: [
        { name: 'a', value: '1' },
        { name: 'b', type: 1 },
      ],
      variableFields: ['body.configurationChanges', 'body.deployRequest.configurationChanges.0'],
      configurationSetChanges: [
        { assign: ['s1'], unassign: [], field: 'body.configurationSetChanges' },
        { assign: ['s2'], unassign: [], field: 'body.deployRequest.configurationSetChanges' },
      ],
      deployRequest: { comment: 'c', deploymentType: 'deploy', targets: ['x.a', 'x.b'] },
      retry: { onDestroy: { times: 2 } },
      driftDetectionRequest: { cron: '0 0 * * *', enabled: true },
    });
  });
});

describe('the first deployment of a new environment', () => {
  it('names it, and limits its lifetime unless the body does', () => {
    const ofDeploy = { envName: 'other', ttl: { type: 'INFINITE' as const } };
    const { name, ttl } = normalizeCreateEnvironment({ ...least, ttl: null, deployRequest: ofDeploy });
    assert.deepEqual({ name, ttl }, { name: 'other', ttl: { type: 'INFINITE' } });
    const hours = { type: 'HOURS' as const, value: '1' };
    assert.deepEqual(
      normalizeCreateEnvironment({ ...least, ttl: hours, deployRequest: ofDeploy }).ttl,
      hours,
    );
  });
});

describe('body of deploy environment', () => {
  it('takes an edited variable row of ours, and leaves its origin out', () => {
    const row = {
      id: 'v1',
      name: 'size',
      value: '2',
      type: 1,
      scope: 'ENVIRONMENT',
      scopeId: 'p1',
      organizationId: 'o',
      userId: 'u',
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
      overwrites: { value: '1' },
      schema: { type: 'string', format: null, enum: null },
      isEdited: true,
      originalVariableScope: 'PROJECT',
    } as const;
    assert.equal(complaint(DeployBody, { configurationChanges: [row] }), '');
    assert.deepEqual(
      normalizeDeployRequest({ configurationChanges: [{ ...row, schema: { ...row.schema } }] })
        .configurationChanges,
      [{ id: 'v1', name: 'size', value: '2', type: 1, schema: { type: 'string' } }],
    );
  });

  it('is the same wrapped or not', () => {
    const inner = {
      comment: 'c',
      userRequiresApproval: false,
      ttl: { type: 'HOURS' as const, value: '4' },
      configurationChanges: { name: 'a' },
    };
    assert.equal(complaint(DeployBody, { deployRequest: inner }), '');
    assert.deepEqual(normalizeDeployRequest({ deployRequest: inner }), normalizeDeployRequest(inner));
    assert.deepEqual(normalizeDeployRequest(inner), {
      comment: 'c',
      userRequiresApproval: false,
      ttl: { type: 'HOURS', value: '4' },
      deploymentType: 'deploy',
      targets: [],
      configurationChanges: [{ name: 'a' }],
      configurationSetChanges: { assign: [], unassign: [] },
    });
  });

  it('may be nothing at all', () => {
    const nothing = {
      deploymentType: 'deploy',
      targets: [],
      configurationChanges: [],
      configurationSetChanges: { assign: [], unassign: [] },
    };
    for (const body of [
      undefined,
      null,
      {},
      { deployRequest: null },
      { targets: null, ttl: null, subEnvironments: null, configurationChanges: null },
    ]) {
      assert.deepEqual(normalizeDeployRequest(body), nothing);
      if (body) assert.equal(complaint(DeployBody, body), '');
    }
  });

  it('names what it does not take', () => {
    assert.equal(
      complaint(DeployBody, { deploymentType: 'destroy' }),
      '/deploymentType must be equal to one of the allowed values',
    );
    assert.equal(
      complaint(DeployBody, { triggerName: 'cd' }),
      '/triggerName must be equal to one of the allowed values',
    );
    assert.equal(complaint(DeployBody, { targets: 7 }), '/targets must be array,string,null');
    assert.equal(
      complaint(DeployBody, { targets: [''] }),
      '/targets/0 must NOT have fewer than 1 characters',
    );
    assert.equal(
      complaint(DeployBody, { customServiceEnvironmentVariables: { nope: '' } }),
      '/customServiceEnvironmentVariables must NOT have additional properties: nope',
    );
  });

  it('normalizes changes inside of sub-environments', () => {
    const body = { subEnvironments: { api: { revision: 'main', configurationChanges: { name: 'a' } } } };
    assert.equal(complaint(DeployBody, body), '');
    assert.deepEqual(normalizeDeployRequest(body).subEnvironments, {
      api: { revision: 'main', configurationChanges: [{ name: 'a' }] },
    });
  });
});

describe('targets in one text', () => {
  it('are split at commas that are not part of an address', () => {
    assert.deepEqual(splitTargets('a.b, module.x["k,1"].y[0],c.d,'), ['a.b', 'module.x["k,1"].y[0]', 'c.d']);
    assert.deepEqual(splitTargets('a["q\\"],["].b,c'), ['a["q\\"],["].b', 'c']);
    assert.deepEqual(splitTargets(' , '), []);
  });

  it('take time proportional to their length, whatever they contain', () => {
    const malformed = '['.repeat(1_000_000);
    assert.deepEqual(splitTargets(malformed), [malformed]);
  });

  it('come back as they were joined', () => {
    const key = fc.string().map((text) => `["${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"]`);
    const address = fc
      .tuple(fc.stringMatching(/^[a-z_]+\.[a-z_]+$/), fc.oneof(fc.constant(''), key))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(address), (addresses) =>
        assert.deepEqual(splitTargets(addresses.join(',')), addresses),
      ),
    );
  });
});

describe('query values', () => {
  const listQuery = (value: Record<string, string>) =>
    complaint(operations.listEnvironments.query, { ...value }, converting);
  const deploymentsQuery = (value: Record<string, string>) =>
    complaint(operations.listDeployments.query, { ...value }, converting);

  it('arrive as text and are converted', () => {
    const query: Record<string, unknown> = { limit: '5', offset: '0', onlyMy: 'false', name: 'a' };
    assert.equal(complaint(operations.listEnvironments.query, query, converting), '');
    assert.deepEqual(query, { limit: 5, offset: 0, onlyMy: false, name: 'a' });
  });

  it('out of range or of the wrong kind are named', () => {
    assert.equal(listQuery({ limit: '0' }), '/limit must be >= 1');
    assert.equal(listQuery({ limit: '101' }), '/limit must be <= 100');
    assert.equal(listQuery({ limit: '1.5' }), '/limit must be integer');
    assert.equal(listQuery({ offset: '-1' }), '/offset must be >= 0');
    assert.equal(listQuery({ isActive: 'yes' }), '/isActive must be boolean');
    assert.equal(deploymentsQuery({ statuses: 'SUCCESS,FAILURE', deploymentTypes: 'deploy' }), '');
    assert.match(deploymentsQuery({ statuses: 'SUCCESS,DONE' }), /^\/statuses must match pattern/);
    assert.match(deploymentsQuery({ fromDate: 'yesterday' }), /^\/fromDate must match format "date-time"/);
  });
});
