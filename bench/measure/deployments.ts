/** Environments and deployments, created and watched by a client. */
import type { DeployRequestBody } from '#contract/deployments/deploy-request.ts';
import type { CreateEnvironmentBody } from '#contract/environments/create-environment.ts';
import type { DeploymentStreamEvent } from '#contract/feeds/shapes.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import type { BenchService } from './service.ts';

/** Creates an environment of a repository without deploying it. @param more fields of the request @returns its id */
export async function createEnvironment(
  { client }: BenchService,
  repository: string,
  requiresApproval: boolean,
  more: Partial<CreateEnvironmentBody> = {},
): Promise<string> {
  const [organization] = await client.call('listOrganizations');
  const [project] = await client.call('listProjects', { query: { organizationId: organization?.id } });
  if (!organization || !project) throw new Error('the new installation has no organization or project');
  const { id } = await client.call('createEnvironmentWithoutTemplate', {
    body: {
      name: 'bench',
      organizationId: organization.id,
      projectId: project.id,
      type: 'terraform',
      repository,
      requiresApproval,
      preventAutoDeploy: true,
      ...more,
    },
  });
  return id;
}

export interface Watched {
  readonly id: string;
  readonly status: DeploymentStatus;
  /** Milliseconds from the request. */
  readonly answered: number;
  readonly firstLog: number;
  readonly ended: number;
}

/** Deploys, follows the event stream to its end. @throws Error when the deployment does not succeed */
export async function deployAndWatch(
  { client }: BenchService,
  environmentId: string,
  body: DeployRequestBody = {},
): Promise<Watched> {
  const start = performance.now();
  const { id } = await client.call('deployEnvironment', { params: { id: environmentId }, body });
  const answered = performance.now() - start;
  let firstLog: number | undefined;
  let status: DeploymentStatus = 'IN_PROGRESS';
  for await (const event of client.stream('streamDeployment', { params: { id } })) {
    if (event.event === 'log') firstLog ??= performance.now() - start;
    if (event.event === 'end') status = event.data.status;
  }
  const ended = performance.now() - start;
  if (status !== 'SUCCESS' || firstLog === undefined) {
    const { error } = await client.call('getDeployment', { params: { id } });
    throw new Error(
      `a deployment of the benchmark ended with ${status}: ${error?.message ?? 'no error message'}`,
    );
  }
  return { id, status, answered, firstLog, ended };
}

/** Reads the stream up to the first matching event. @throws Error when the stream ends before */
export async function readUntil(
  stream: AsyncGenerator<DeploymentStreamEvent>,
  fits: (event: DeploymentStreamEvent) => boolean,
): Promise<DeploymentStreamEvent> {
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error('the event stream ended too early');
    if (fits(value)) return value;
  }
}
