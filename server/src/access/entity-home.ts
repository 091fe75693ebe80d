/** From any entity to the organization and project it belongs to. */
import type { Subject } from '#contract/operation.ts';
import type { Connection } from '../context.ts';

export interface Home {
  readonly organizationId: string;
  readonly projectId: string | null;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text can be an id at all; PostgreSQL refuses to compare others. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

async function organizationHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db.selectFrom('organization').select('id').where('id', '=', id).executeTakeFirst();
  return row && { organizationId: row.id, projectId: null };
}

async function projectHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db
    .selectFrom('project')
    .select(['id', 'organization_id'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: row.id };
}

async function templateHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db
    .selectFrom('template')
    .select(['organization_id', 'project_id'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: row.project_id };
}

async function environmentHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db
    .selectFrom('environment')
    .select(['organization_id', 'project_id'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: row.project_id };
}

async function deploymentHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db
    .selectFrom('deployment')
    .select(['organization_id', 'project_id'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: row.project_id };
}

async function stateVersionHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db
    .selectFrom('state_version')
    .innerJoin('environment', 'environment.id', 'state_version.environment_id')
    .select(['environment.organization_id', 'environment.project_id'])
    .where('state_version.id', '=', id)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: row.project_id };
}

async function gitTokenHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db
    .selectFrom('git_token')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: null };
}

async function sshKeyHome(db: Connection, id: string): Promise<Home | undefined> {
  const row = await db
    .selectFrom('ssh_key')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: null };
}

/** By key or by id: clients send either. */
async function agentHome(db: Connection, key: string): Promise<Home | undefined> {
  const query = db.selectFrom('agent').select('organization_id');
  const row = await (isUuid(key)
    ? query.where('id', '=', key)
    : query.where('agent_key', '=', key)
  ).executeTakeFirst();
  return row && { organizationId: row.organization_id, projectId: null };
}

const homes = {
  organization: organizationHome,
  project: projectHome,
  template: templateHome,
  environment: environmentHome,
  deployment: deploymentHome,
  stateVersion: stateVersionHome,
  agent: agentHome,
  gitToken: gitTokenHome,
  sshKey: sshKeyHome,
} satisfies Record<Subject['entity'], (db: Connection, id: string) => Promise<Home | undefined>>;

/** @returns where the entity lives, or undefined where there is none with that id */
export async function homeOf(
  db: Connection,
  entity: Subject['entity'],
  id: string,
): Promise<Home | undefined> {
  return isUuid(id) || entity === 'agent' ? homes[entity](db, id) : undefined;
}
