/** Finds approval policies, and the places that they are assigned to. */
import type { ApprovalPolicyEntry, FlowScope } from '#contract/custom-flows/shapes.ts';
import { findOrganization, findProject, matching, only } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { findTemplate } from '../templates/find-template.ts';

export interface PolicyPlaceFlags {
  readonly project?: string;
  readonly template?: string;
  readonly wholeOrganization?: boolean;
}

/** @throws BadCall unless exactly one has the id, its beginning or the exact name */
export async function findPolicy(
  { client }: CommandSession,
  organizationId: string,
  idOrName: string,
): Promise<ApprovalPolicyEntry> {
  const entries = await client.call('listApprovalPolicies', { query: { organizationId } });
  const found = matching(
    entries.map((entry) => ({ id: entry.policy.id, name: entry.policy.name, entry })),
    idOrName,
  );
  return only(found, 'approval-policy', idOrName, ({ name }) => name).entry;
}

/** @throws BadCall unless exactly one place is specified */
export async function findPlace(
  session: CommandSession,
  { project, template, wholeOrganization }: PolicyPlaceFlags,
): Promise<{ readonly scope: FlowScope; readonly scopeId: string }> {
  const { client } = session;
  const places = [project, template, wholeOrganization].filter((each) => each !== undefined);
  if (places.length !== 1)
    throw new BadCall('Specify one of --project, --template and --whole-organization.');
  const { id } = await findOrganization(session);
  if (project !== undefined)
    return { scope: 'PROJECT', scopeId: (await findProject(client, id, project)).id };
  if (template !== undefined)
    return { scope: 'BLUEPRINT', scopeId: (await findTemplate(client, id, template)).id };
  return { scope: 'ORGANIZATION', scopeId: id };
}
