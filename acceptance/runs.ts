/**
 * Helpers of the stories: environments from small repositories, waiting for the progress of their
 * deployments, and their logs.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '#contract/client/client.ts';
import type { DeployBody } from '#contract/deployments/deploy-request.ts';
import type { Deployment, LogEvent } from '#contract/deployments/shapes.ts';
import type { CreateEnvironmentBody } from '#contract/environments/create-environment.ts';
import type { CreatedEnvironment } from '#contract/environments/shapes.ts';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import { follow } from './follow.ts';

/** Many times what anything takes, also on a busy machine. */
const patienceMilliseconds = 120_000;
const pollMilliseconds = 50;

/** The organization and the project that a new installation has. */
export interface Home {
  readonly organizationId: string;
  readonly projectId: string;
  /** Default tool of its stories; absent: terraform. */
  readonly type?: TemplateType;
}

export async function homeOf(client: Client): Promise<Home> {
  const [organization] = await client.call('listOrganizations');
  const [project] = await client.call('listProjects', { query: { organizationId: organization?.id } });
  if (!organization || !project) throw new Error('The new installation has no organization or project');
  return { organizationId: organization.id, projectId: project.id };
}

/** Settings of a story for an environment; the rest is the same for all. */
export type EnvironmentRequest = Partial<CreateEnvironmentBody> & Pick<CreateEnvironmentBody, 'repository'>;

export interface Created {
  readonly environment: CreatedEnvironment;
  readonly id: string;
  /** Of its first deployment, or of the placeholder. */
  readonly deploymentId: string;
}

/** Makes an environment; it deploys without asking unless the request says otherwise. */
export async function createEnvironment(
  client: Client,
  home: Home,
  request: EnvironmentRequest,
): Promise<Created> {
  const body = { name: 'story', type: 'terraform', requiresApproval: false, ...home, ...request } as const;
  const environment = await client.call('createEnvironmentWithoutTemplate', { body });
  return { environment, id: environment.id, deploymentId: environment.latestDeploymentLog.id ?? '' };
}

/**
 * Waits on the event stream for a status.
 * @param statuses what is waited for; none: the end
 * @returns the deployment as it is then, or at its end
 */
export async function untilStatus(
  client: Client,
  id: string,
  ...statuses: readonly Deployment['status'][]
): Promise<Deployment> {
  const signal = AbortSignal.timeout(patienceMilliseconds);
  for await (const event of client.stream('streamDeployment', { params: { id }, signal })) {
    if (event.event === 'status' && statuses.includes(event.data.status)) break;
  }
  return client.call('getDeployment', { params: { id } });
}

/** Waits for the end. @throws Error with the deployment's own where it ends otherwise */
export async function untilEnd(
  client: Client,
  id: string,
  status: Deployment['status'] = 'SUCCESS',
): Promise<Deployment> {
  const deployment = await untilStatus(client, id);
  if (deployment.status === status) return deployment;
  throw new Error(
    `The ${deployment.type} is ${deployment.status} and not ${status}: ${deployment.error?.message ?? 'no error message'}`,
  );
}

/** Waits for the plan, approves it, and waits for the end. */
export async function approveAndEnd(client: Client, id: string): Promise<Deployment> {
  const planned = await untilStatus(client, id, 'WAITING_FOR_USER');
  if (planned.status !== 'WAITING_FOR_USER')
    throw new Error(`The deployment is ${planned.status}: ${planned.error?.message ?? ''}`);
  await client.call('approveDeployment', { params: { id } });
  return untilEnd(client, id);
}

/** Makes an environment and waits for the end of its first deployment. */
export async function deployNew(
  client: Client,
  home: Home,
  request: EnvironmentRequest,
): Promise<Created & { deployment: Deployment }> {
  const created = await createEnvironment(client, home, request);
  return { ...created, deployment: await untilEnd(client, created.deploymentId) };
}

/** Requests another deployment of an environment. */
export function deploy(client: Client, id: string, body: DeployBody = {}) {
  return client.call('deployEnvironment', { params: { id }, body });
}

/** Requests another deployment, and waits for its end. @throws Error where it does not succeed */
export async function deployAndEnd(...args: Parameters<typeof deploy>): Promise<Deployment> {
  return untilEnd(args[0], (await deploy(...args)).id);
}

/** Requests that all of an environment is destroyed. */
export function destroy(client: Client, id: string) {
  return client.call('destroyEnvironment', { params: { id } });
}

/** Destroys all of an environment. @throws Error where that does not succeed */
export async function destroyAndEnd(client: Client, id: string): Promise<Deployment> {
  return untilEnd(client, (await destroy(client, id)).id);
}

/** Asks again and again until there is an answer. @throws Error that says what was waited for */
export async function until<Value>(
  what: string,
  ask: () => Value | Promise<Value>,
): Promise<Exclude<Value, false | null | undefined>> {
  const deadline = Date.now() + patienceMilliseconds;
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== null && value !== false)
      return value as Exclude<Value, false | null | undefined>;
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`);
    await delay(pollMilliseconds);
  }
}

/**
 * Makes a file in the folder in which an environment's tool runs right now, for a command that waits for it:
 * a run sees little else of the machine.
 */
export function openGate(
  { folder }: { readonly folder: string },
  environmentId: string,
  name = 'gate',
): Promise<void> {
  return writeFile(join(folder, 'data', 'work', environmentId, 'tree', name), '');
}

/**
 * All logs of a deployment from its stream, by step, up to its end.
 * @throws Error where a byte is missing or comes twice
 */
export async function streamedLogs(client: Client, id: string): Promise<ReadonlyMap<string, Buffer>> {
  const { logs } = await follow(client, id, { signal: AbortSignal.timeout(patienceMilliseconds) });
  return logs;
}

/** All lines of a step, page by page. */
export async function stepLines(client: Client, deploymentLogId: string, name: string): Promise<LogEvent[]> {
  const lines: LogEvent[] = [];
  for (let startTime: string | undefined; ; ) {
    const page = await client.call('getStepLog', { params: { deploymentLogId, name }, query: { startTime } });
    lines.push(...page.events);
    if (!page.hasMoreLogs) return lines;
    if (page.nextStartTime === startTime)
      throw new Error(`The log of ${name} does not advance beyond ${startTime}`);
    startTime = page.nextStartTime;
  }
}

/** All logs of a deployment as one text. */
export async function wholeLog(client: Client, id: string): Promise<string> {
  return [...(await streamedLogs(client, id)).values()].map((bytes) => bytes.toString('utf8')).join('');
}
