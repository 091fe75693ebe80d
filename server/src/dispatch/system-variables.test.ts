import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/coverage.ts';
import { CustomServiceEnvironmentVariables } from '#contract/deployment.ts';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { ok } from '../testing/client.ts';
import { createIdle, deploy } from '../testing/environment.ts';
import { systemVariableName } from './system-variables.ts';

const app = await testApp();
const agent = await testAgent(app);

test('names of the wire become names of an environment', () => {
  const names = {
    deploymentLogId: 'DEPLOYMENT_LOG_ID',
    discoveryVCS: 'DISCOVERY_VCS',
    discoveryRepositoryUrl: 'DISCOVERY_REPOSITORY_URL',
    tfPlanJson: 'TF_PLAN_JSON',
    rootDir: 'ROOT_DIR',
  };
  for (const [name, expected] of Object.entries(names)) assert.equal(systemVariableName(name), `ENVARIUM_${expected}`);
});

test('a run is told what it is and who wants it', async () => {
  const parent = await ok(app, 'createProject', { body: { organizationId: app.organizationId, name: 'platform' } });
  const project = await ok(app, 'createProject', {
    body: { organizationId: app.organizationId, name: 'network', parentProjectId: parent.id },
  });
  const environment = await createIdle(app, { projectId: project.id, path: 'net', revision: 'v1' });
  const { id } = await deploy(app, environment.id);
  const { systemVariables } = await agent.claim();
  assert.deepEqual(systemVariables, {
    ENVARIUM_ENVIRONMENT_ID: environment.id,
    ENVARIUM_ENVIRONMENT_NAME: 'network',
    ENVARIUM_PROJECT_ID: project.id,
    ENVARIUM_PROJECT_NAME: 'network',
    ENVARIUM_PARENT_PROJECT_IDS: parent.id,
    ENVARIUM_ORGANIZATION_ID: app.organizationId,
    ENVARIUM_DEPLOYMENT_LOG_ID: id,
    ENVARIUM_DEPLOYMENT_TYPE: 'deploy',
    ENVARIUM_DEPLOYMENT_REVISION: 'v1',
    ENVARIUM_WORKSPACE_NAME: environment.workspaceName,
    ENVARIUM_TEMPLATE_ID: environment.blueprintId,
    ENVARIUM_TEMPLATE_NAME: 'single-use-template-for-network',
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
  });
});

test('each of the custom variables reaches the run, and goes before what the service says', async () => {
  covers(
    'CustomServiceEnvironmentVariables',
    'deploymentType',
    'environmentId',
    'projectId',
    'projectName',
    'parentProjectIds',
    'parentProjectPath',
    'deploymentLogId',
    'deploymentRevision',
    'workspaceName',
    'rootDir',
    'organizationId',
    'templateId',
    'templateDir',
    'templateName',
    'environmentName',
    'environmentCreatorName',
    'environmentCreatorUserId',
    'environmentCreatorEmail',
    'deployerName',
    'deployerUserId',
    'deployerEmail',
    'reviewerName',
    'reviewerEmail',
    'reviewerUserId',
    'vcsProvider',
    'prAuthor',
    'prNumber',
    'prSourceRepository',
    'prSourceBranch',
    'prTargetBranch',
    'commitHash',
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
  const names = Object.keys(CustomServiceEnvironmentVariables.properties);
  assert.equal(names.length, 40);
  const given = Object.fromEntries(names.map((name) => [name, name === 'deploymentType' ? 'task' : `custom ${name}`]));
  const environment = await createIdle(app);
  await deploy(app, environment.id, { customServiceEnvironmentVariables: given });
  const { systemVariables } = await agent.claim();
  for (const [name, value] of Object.entries(given)) assert.equal(systemVariables[systemVariableName(name)], value, name);
});
