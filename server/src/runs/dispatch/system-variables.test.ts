import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { CustomServiceEnvironmentVariables } from '#contract/deployments/custom-variables.ts';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { systemVariablesWith } from '../../../testing/environment.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { commitUrlOf } from '../../code/vcs-connections/vcs-provider.ts';
import { sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';

const tests = await startAgentTests();
const { app, agent, ok, refused, add, createBody, createEnvironment, createIdle, deploy } = tests;
const { deploymentOf, environmentOf, forgetWork } = tests;

/** @returns the name that a run sees for a key of customServiceEnvironmentVariables */
function variableName(key: string): string {
  const variables = systemVariablesWith({ [key]: 'here' });
  return Object.keys(variables).find((name) => variables[name] === 'here') ?? assert.fail(key);
}

test('names of fields become names of environment variables', () => {
  const names = {
    deploymentLogId: 'DEPLOYMENT_LOG_ID',
    discoveryVCS: 'DISCOVERY_VCS',
    discoveryRepositoryUrl: 'DISCOVERY_REPOSITORY_URL',
    tfPlanJson: 'TF_PLAN_JSON',
    rootDir: 'ROOT_DIR',
  };
  for (const [name, expected] of Object.entries(names))
    assert.equal(variableName(name), `ENVARIUM_${expected}`);
});

test('a run gets variables that describe it and who requested it', async () => {
  covers('createEnvironmentWithoutTemplate', 'body.k8sNamespace', 'body.revision');
  covers('Environment', 'k8sNamespace');
  covers('Deployment', 'agentId');
  covers(
    'CustomServiceEnvironmentVariables',
    'deploymentType',
    'environmentId',
    'projectId',
    'deploymentLogId',
    'deploymentRevision',
    'rootDir',
    'organizationId',
    'templateDir',
    'environmentCreatorName',
    'environmentCreatorUserId',
    'environmentCreatorEmail',
    'deployerName',
    'deployerEmail',
    'reviewerName',
    'reviewerEmail',
    'reviewerUserId',
    'commitHash',
  );
  const parent = await add('Project', `platform ${randomUUID()}`);
  const project = await add('Project', `network ${randomUUID()}`, { parentProjectId: parent.id });
  const repository = 'https://user:planted-token@github.com/acme/Network.git';
  const request = {
    name: 'Réseau 1 (prod)',
    projectId: project.id,
    path: 'net',
    revision: 'v1',
    repository,
    k8sNamespace: 'net',
  };
  const environment = await createIdle(request);
  assert.equal(environment.k8sNamespace, 'net');
  const { id } = await deploy(environment.id, { targets: ['a.b', 'c.d["e"]'] });
  const job = await agent.claim();
  const [known] = await ok('listAgents', { query: { organizationId: app.organizationId } });
  assert.equal((await deploymentOf(id)).agentId, known?.id);
  const common = {
    ENVARIUM_ENVIRONMENT_ID: environment.id,
    ENVARIUM_ENVIRONMENT_NAME: 'Réseau 1 (prod)',
    ENVARIUM_PROJECT_ID: project.id,
    ENVARIUM_PROJECT_NAME: project.name,
    ENVARIUM_PARENT_PROJECT_IDS: parent.id,
    ENVARIUM_PARENT_PROJECT_PATH: parent.name,
    ENVARIUM_ORGANIZATION_ID: app.organizationId,
    ENVARIUM_DEPLOYMENT_LOG_ID: id,
    ENVARIUM_DEPLOYMENT_TYPE: 'deploy',
    ENVARIUM_DEPLOYMENT_REVISION: 'v1',
    ENVARIUM_WORKSPACE_NAME: environment.workspaceName,
    ENVARIUM_TEMPLATE_ID: environment.blueprintId,
    ENVARIUM_TEMPLATE_NAME: 'single-use-template-for-Réseau 1 (prod)',
    ENVARIUM_TEMPLATE_DIR: 'net',
    ENVARIUM_ENVIRONMENT_CREATOR_NAME: 'First admin key',
    ENVARIUM_ENVIRONMENT_CREATOR_USER_ID: 'admin',
    ENVARIUM_ENVIRONMENT_CREATOR_EMAIL: '',
    ENVARIUM_DEPLOYER_NAME: 'First admin key',
    ENVARIUM_DEPLOYER_USER_ID: 'admin',
    ENVARIUM_DEPLOYER_EMAIL: '',
    ENVARIUM_REVIEWER_NAME: '',
    ENVARIUM_REVIEWER_USER_ID: '',
    ENVARIUM_REVIEWER_EMAIL: '',
    ENVARIUM_VCS_PROVIDER: 'github',
    ENVARIUM_VCS_ACCESS_TOKEN: 'planted-token',
  };
  const ofRunsOnly = {
    ENVARIUM_ENVIRONMENT_NAME_NORMALIZED: 'reseau-1-prod',
    ENVARIUM_K8S_NAMESPACE: 'net',
    ENVARIUM_TEMPLATE_PATH: 'net',
    ENVARIUM_TEMPLATE_REPOSITORY: 'https://github.com/acme/Network.git',
    ENVARIUM_TEMPLATE_REVISION: 'v1',
  };
  assert.deepEqual(job.systemVariables, { ...common, ...ofRunsOnly });
  assert.ok(job.secrets.includes('planted-token'), 'the token is masked');
  const shown = (await deploymentOf(id)).customServiceEnvironmentVariables ?? {};
  const byName = Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [variableName(name), value]),
  );
  // To the run these are variables that only its owner sets.
  const shownOnly = { ENVARIUM_CLI_ARGS_PLAN: '-target=a.b -target=c.d["e"]', ENVARIUM_CLI_ARGS_APPLY: '' };
  assert.deepEqual(byName, { ...common, ...shownOnly, ENVARIUM_VCS_ACCESS_TOKEN: sensitiveMask });
  await agent.report(job, {
    events: [
      {
        kind: 'git',
        at: new Date().toISOString(),
        commit: 'c'.repeat(40),
        branch: 'main',
        timestamp: new Date().toISOString(),
      },
    ],
  });
  await agent.finish(job, plannedOutcome({ workFolder: '/srv/work' }));
  await ok('approveDeployment', { id });
  await ok('updateEnvironment', { id: environment.id, body: { name: 'renamed meanwhile' } });
  const apply = await agent.claim();
  const commit = {
    COMMIT_HASH: 'c'.repeat(40),
    COMMIT_URL: `https://github.com/acme/Network/commit/${'c'.repeat(40)}`,
  };
  const later = {
    ...commit,
    REVIEWER_NAME: 'First admin key',
    REVIEWER_USER_ID: 'admin',
    DEPLOYMENT_REVISION: 'c'.repeat(40),
    ENVIRONMENT_NAME: request.name,
  };
  for (const [name, value] of Object.entries(later))
    assert.equal(apply.systemVariables[`ENVARIUM_${name}`], value, name);
  const { commitHash, commitUrl, reviewerUserId, rootDir } =
    (await deploymentOf(id)).customServiceEnvironmentVariables ?? {};
  assert.deepEqual([commitHash, commitUrl, reviewerUserId], [commit.COMMIT_HASH, commit.COMMIT_URL, 'admin']);
  assert.equal(rootDir, `/srv/work/${environment.id}/tree`, 'where the agent has the code');
});

test('the forge of a repository follows from its settings, or else from its host', async () => {
  covers(
    'createEnvironmentWithoutTemplate',
    'body.isBitbucketServer',
    'body.isGitLabEnterprise',
    'body.isGitHubEnterprise',
  );
  covers(
    'createEnvironmentWithoutTemplate',
    'body.isGitLab',
    'body.isAzureDevOps',
    'body.githubInstallationId',
    'body.bitbucketClientKey',
  );
  const forges: [object, string | undefined][] = [
    [{ isBitbucketServer: true }, 'bitbucketServer'],
    [{ isGitLabEnterprise: true }, 'gitlabEnterprise'],
    [{ isGitHubEnterprise: true }, 'githubEnterprise'],
    [{ isGitLab: true }, 'gitlab'],
    [{ isAzureDevOps: true }, 'azureDevOps'],
    [{ githubInstallationId: 7 }, 'github'],
    [{ bitbucketClientKey: 'k' }, 'bitbucket'],
    [{ repository: 'https://bitbucket.org/a/b.git' }, 'bitbucket'],
    [{}, undefined],
  ];
  for (const [settings, expected] of forges) {
    const environment = await createEnvironment(settings);
    assert.equal(
      environment.latestDeploymentLog.customServiceEnvironmentVariables?.vcsProvider,
      expected,
      JSON.stringify(settings),
    );
  }
  await forgetWork();
  const commit = 'd'.repeat(40);
  const pages: [string, string, string | null][] = [
    ['git@github.com:acme/net.git', 'github', `https://github.com/acme/net/commit/${commit}`],
    ['ssh://git@gitlab.com/acme/net.git', 'gitlab', `https://gitlab.com/acme/net/-/commit/${commit}`],
    ['https://bitbucket.org/acme/net', 'bitbucket', `https://bitbucket.org/acme/net/commits/${commit}`],
    ['/srv/repositories/net', 'github', null],
    ['https://git.example.com/net.git', 'bitbucketServer', null],
    ['git@ssh.dev.azure.com:v3/a/b/c', 'azureDevOps', null],
  ];
  for (const [repository, provider, page] of pages)
    assert.equal(commitUrlOf(repository, provider, commit), page, repository);
});

test('custom variables that a process cannot have are refused by name', async () => {
  const environment = await createIdle();
  for (const value of ['a\u0007b', '\u001b[2J', 'x'.repeat(40_000)]) {
    const body = { customServiceEnvironmentVariables: { prAuthor: value } };
    await refused('deployEnvironment', 400, /customServiceEnvironmentVariables\/prAuthor/, {
      id: environment.id,
      body,
    });
    const create = createBody({ deployRequest: body });
    assert.match(
      (await refused('createEnvironmentWithoutTemplate', 400, { body: create })).message,
      /deployRequest\/customServiceEnvironmentVariables\/prAuthor/,
    );
  }
});

test('custom variables reach the run and take precedence; facts about who runs what cannot be overridden', async () => {
  covers(
    'CustomServiceEnvironmentVariables',
    'projectName',
    'parentProjectIds',
    'parentProjectPath',
    'workspaceName',
    'templateId',
    'templateName',
    'environmentName',
    'deployerUserId',
    'vcsProvider',
    'prAuthor',
    'prNumber',
    'prSourceRepository',
    'prSourceBranch',
    'prTargetBranch',
    'commitUrl',
    'oidcToken',
    'vcsAccessToken',
    'tfPlanJson',
    'cliArgsPlan',
    'cliArgsApply',
    'discoveryRepositoryUrl',
    'discoveryPrNumber',
    'discoveryVCS',
  );
  const all = Object.keys(CustomServiceEnvironmentVariables.properties);
  assert.equal(all.length, 40);
  const isFact = (name: string) =>
    /^(deployer|reviewer|environmentCreator)|^(organization|project|environment|deploymentLog)Id$/.test(
      name,
    ) || ['deploymentType', 'deploymentRevision', 'commitHash', 'rootDir', 'templateDir'].includes(name);
  const names = all.filter((name) => !isFact(name));
  assert.equal(names.length, 22);
  const custom = Object.fromEntries(names.map((name) => [name, `custom ${name}`]));
  const environment = await createIdle();
  const facts = all.filter(isFact);
  const claimed = Object.fromEntries(
    facts.map((name) => [name, name === 'deploymentType' ? 'task' : 'of another user']),
  );
  await deploy(environment.id, { customServiceEnvironmentVariables: { ...custom, ...claimed } });
  const { systemVariables } = await agent.claim();
  for (const name of facts) assert.notEqual(systemVariables[variableName(name)], claimed[name], name);
  for (const [name, value] of Object.entries(custom))
    assert.equal(systemVariables[variableName(name)], value, name);
  const shown = (await environmentOf(environment.id)).latestDeploymentLog.customServiceEnvironmentVariables;
  const masked = { oidcToken: sensitiveMask, vcsAccessToken: sensitiveMask };
  for (const [name, value] of Object.entries({ ...custom, ...masked }))
    assert.equal(shown?.[name as keyof typeof shown], value, name);
  assert.equal(shown?.deployerUserId, 'admin');
});
