/** An installation with something to look at: for the demo, the screenshots and the tests of the web interface. */

import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import type { Client } from '#contract/client/client.ts';
import { createEnvironment, type Home, homeOf, untilEnd, untilStatus } from '../runs.ts';
import { makeRepository, type Repository } from '../service.ts';

/** A person who can sign in. */
export interface Person {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

export const admin: Person = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  password: 'four random words together',
};

const network = `variable "region" {
  type        = string
  default     = "eu-central-1"
  description = "Where everything is"
}

variable "size" {
  type        = number
  default     = 2
  description = "Servers behind the balancer"
  validation {
    condition     = var.size > 0 && var.size < 20
    error_message = "Between 1 and 19."
  }
}

variable "token" {
  type      = string
  default   = "not-so-secret"
  sensitive = true
}

resource "terraform_data" "network" {
  input = "10.0.0.0/16 in \${var.region}"
}

resource "terraform_data" "server" {
  count            = var.size
  input            = "server \${count.index} in \${terraform_data.network.output}"
  triggers_replace = [var.region]
}

output "servers" {
  value = terraform_data.server[*].output
}

output "token" {
  value     = var.token
  sensitive = true
}
`;

const failing = `resource "terraform_data" "database" {
  input = "postgres 18"
}

resource "terraform_data" "migration" {
  depends_on = [terraform_data.database]
  provisioner "local-exec" {
    command = "echo 'applying migration 41 …'; echo 'relation \\"orders\\" already exists' >&2; exit 3"
  }
}
`;

/** Content that differs each time it is shown: a plan without a change of the code has changes. */
const drifting = `resource "terraform_data" "certificate" {
  input = "renewed at \${formatdate("hh:mm:ss", timestamp())}"
}
`;

export interface Showcase {
  readonly organizationId: string;
  readonly projectId: string;
  readonly repository: Repository;
  /** Ids of environments by what they show. */
  readonly environments: Readonly<Record<'active' | 'waiting' | 'failed' | 'drifted' | 'destroyed', string>>;
  readonly waitingDeployment: string;
  readonly failedDeployment: string;
  /** An approval policy that is assigned nowhere. */
  readonly policyId: string;
  /** A project whose discovery passes all folders over. */
  readonly discoveryProjectId: string;
}

/**
 * Makes the administrator that people sign in as.
 * @param client of the installation's first key
 * @param organizationId default: the first organization
 */
export async function createAdmin(
  client: Client,
  person: Person = admin,
  organizationId?: string,
): Promise<void> {
  await client.call('createAdmin', { body: { ...person, ...(organizationId ? { organizationId } : {}) } });
}

async function createTemplate(
  client: Client,
  { organizationId, projectId, type = 'terraform' }: Home,
  repository: string,
) {
  const template = await client.call('createTemplate', {
    body: {
      organizationId,
      name: 'Web servers',
      description: 'A network with servers behind a balancer',
      type,
      repository,
      revision: 'main',
    },
  });
  await client.call('addTemplateToProject', { params: { id: template.id ?? '' }, body: { projectId } });
}

/** An endpoint that hears of failures: nothing has its name, so that nothing leaves the machine. */
async function notify(client: Client, { organizationId, projectId }: Home): Promise<void> {
  const body = {
    organizationId,
    name: 'Operations',
    type: 'Webhook',
    value: 'https://hooks.invalid/x',
  } as const;
  const { id: endpointId } = await client.call('createNotificationEndpoint', { body });
  await client.call('assignNotificationEndpoint', {
    params: { projectId, endpointId },
    body: { eventNames: ['deployFailed', 'destroyFailed', 'driftDetected'] },
  });
}

/**
 * Fills a new installation: several environments, among them one that waits for approval, one that failed, one
 * that drifted and one that was destroyed; a template, a project below another, variables.
 * @param folder of the service, where its repositories are
 * @param type what runs it
 */
export async function fillShowcase(
  client: Client,
  folder: string,
  type: 'terraform' | 'opentofu' = 'terraform',
): Promise<Showcase> {
  const home = { ...(await homeOf(client)), type };
  const files = { 'network/main.tf': network, 'database/main.tf': failing, 'certificates/main.tf': drifting };
  const repository = await makeRepository(folder, 'infrastructure', files);
  const from = { repository: repository.path, ...home } as const;
  await createTemplate(client, home, repository.path);
  await notify(client, home);
  const policy = await client.call('createApprovalPolicy', {
    body: {
      ...{ organizationId: home.organizationId, name: 'SSH is not open to the internet' },
      ...{ repository: catalogueRepository, path: 'disallow-unrestricted-ssh-ingress' },
      policyConfiguration: { ports: [22, 3389] },
    },
  });
  const staging = await client.call('createProject', {
    body: { organizationId: home.organizationId, parentProjectId: home.projectId, name: 'Staging' },
  });
  await client.call('saveVariables', {
    body: [
      {
        name: 'region',
        value: 'eu-west-1',
        type: 1,
        scope: 'PROJECT',
        scopeId: staging.id,
        organizationId: home.organizationId,
      },
    ],
  } as never);
  await client.call('setDiscovery', {
    params: { projectId: staging.id },
    body: { repository: repository.path, type, globPattern: 'live/*/main.tf' },
  });
  const [active, waiting, failed, drifted, destroyed] = await Promise.all([
    createEnvironment(client, home, { ...from, name: 'production', path: 'network' }),
    createEnvironment(client, home, {
      ...from,
      name: 'staging',
      path: 'network',
      projectId: staging.id,
      requiresApproval: true,
    }),
    createEnvironment(client, home, { ...from, name: 'orders database', path: 'database' }),
    createEnvironment(client, home, { ...from, name: 'certificates', path: 'certificates' }),
    createEnvironment(client, home, { ...from, name: 'load test', path: 'network' }),
  ]);
  await Promise.all([
    untilEnd(client, active.deploymentId),
    untilStatus(client, waiting.deploymentId, 'WAITING_FOR_USER'),
    untilEnd(client, failed.deploymentId, 'FAILURE'),
    untilEnd(client, drifted.deploymentId),
    untilEnd(client, destroyed.deploymentId),
  ]);
  const again = await client.call('deployEnvironment', {
    params: { id: active.id },
    body: {
      comment: 'move to another region',
      userRequiresApproval: true,
      configurationChanges: [{ name: 'region', value: 'eu-north-1', type: 1 }],
    } as never,
  });
  const drift = await client.call('deployEnvironment', {
    params: { id: drifted.id },
    body: { deploymentType: 'driftDetection' },
  });
  const end = await client.call('destroyEnvironment', { params: { id: destroyed.id } });
  await Promise.all([
    untilStatus(client, again.id, 'WAITING_FOR_USER'),
    untilEnd(client, drift.id),
    untilEnd(client, end.id),
  ]);
  return {
    ...home,
    repository,
    environments: {
      active: active.id,
      waiting: waiting.id,
      failed: failed.id,
      drifted: drifted.id,
      destroyed: destroyed.id,
    },
    waitingDeployment: again.id,
    failedDeployment: failed.deploymentId,
    discoveryProjectId: staging.id,
    policyId: policy.id,
  };
}
