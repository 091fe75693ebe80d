/** Environments as tests need them. */
import type { DeploymentRow } from '../src/rows/deployments/deployment-store.ts';
import { systemVariables } from '../src/runs/dispatch/system-variables.ts';
import type { TestAgent } from './agent.ts';
import type { TestApp } from './app.ts';
import { ok, type Reply } from './client.ts';

/** The least that creates an environment. */
export function createBody(test: Pick<TestApp, 'organizationId' | 'projectId'>, more: object = {}) {
  const { organizationId, projectId } = test;
  return {
    name: 'network',
    organizationId,
    projectId,
    repository: 'https://git.example.com/network.git',
    type: 'terraform',
    ...more,
  };
}

export function createEnvironment(
  test: TestApp,
  more: object = {},
): Promise<Reply<'createEnvironmentWithoutTemplate'>> {
  return ok(test, 'createEnvironmentWithoutTemplate', { body: createBody(test, more) });
}

/** Of an environment whose deployments run several units. */
export const settingsOfUnits = {
  type: 'terragrunt',
  terragruntVersion: '1.1.3',
  terragruntTfBinary: 'opentofu',
  isTerragruntRunAll: true,
} as const;

/** An environment that was never deployed. */
export function createIdle(test: TestApp, more: object = {}): ReturnType<typeof createEnvironment> {
  return createEnvironment(test, { preventAutoDeploy: true, ...more });
}

/** An environment that was deployed without asking anybody. @param names its resources */
export async function createActive(
  test: TestApp,
  agent: TestAgent,
  more: object = {},
  names: readonly string[] = ['a'],
): ReturnType<typeof createEnvironment> {
  const environment = await createEnvironment(test, { requiresApproval: false, ...more });
  await agent.run(names);
  return environment;
}

export function deploy(test: TestApp, id: string, body: object = {}): Promise<Reply<'deployEnvironment'>> {
  return ok(test, 'deployEnvironment', { id, body });
}

export function environmentOf(test: TestApp, id: string): Promise<Reply<'getEnvironment'>> {
  return ok(test, 'getEnvironment', { id });
}

export function deploymentOf(test: TestApp, id: string): Promise<Reply<'getDeployment'>> {
  return ok(test, 'getDeployment', { id });
}

/** Takes all work away from agents, so that a test begins with none of an earlier one. */
export async function forgetWork(test: TestApp): Promise<void> {
  await test.database.pool.query("update attempt set status = 'ended'; update job set status = 'done'");
}

/** The variables of a run whose request specifies only these of its own. @param custom by the names of the request's fields */
export function systemVariablesWith(custom: Readonly<Record<string, string>>): Record<string, string> {
  const row = {
    facts: {},
    custom_environment_variables: {},
    work_folder: null,
    tool: 'terraform',
    targets: [],
  };
  const parts = { custom, vcsAccessToken: null, oidcToken: null, reviewer: undefined };
  return systemVariables(row as unknown as DeploymentRow, parts);
}
