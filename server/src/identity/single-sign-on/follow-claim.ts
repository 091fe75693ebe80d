/**
 * Keeps memberships in step with a claim of the identity provider, at each sign-in: those that came from it are
 * made, changed and removed as it says. What people have decided is left alone.
 */
import type { ClaimRule } from '#settings/claim-rules.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import {
  insertMembership,
  listMemberships,
  updateMembership,
} from '../../rows/organizations/membership-store.ts';
import { findOrganization } from '../../rows/organizations/organization-store.ts';
import { findRoleNamed } from '../../rows/roles/grant-store.ts';
import {
  type FollowedTeam,
  findTeamNamed,
  followedTeams,
  followTeam,
  unfollowTeam,
} from '../../rows/teams/followed-team-store.ts';
import { requireOtherAdmin } from '../../tenancy/organizations/keep-an-admin.ts';
import { leaveOrganization } from '../people/leave-organization.ts';

/** Mark of memberships that follow a claim. */
const claimSource = 'oidc';

const builtIn = new Set(['Admin', 'User']);

/** Claim of one person. */
export interface ClaimContent {
  /** Role by organization. */
  readonly roles: ReadonlyMap<string, string>;
  readonly teams: readonly FollowedTeam[];
  /** Organizations in which a rule names something unknown; null: the organization itself is unknown. */
  readonly unread: ReadonlySet<string | null>;
  /** Organizations whose deciding rule may be one that names an unknown role. */
  readonly undecided: ReadonlySet<string>;
}

async function roleOf(
  context: ActorContext,
  organizationId: string,
  role: string,
): Promise<string | undefined> {
  return builtIn.has(role) ? role : findRoleNamed(context.db, organizationId, role);
}

/**
 * Memberships from the values of a claim by the rules. Of several rules for one organization, the first one decides
 * about the role; rules that name something unknown give nothing, and are logged.
 */
export async function wantedBy(
  context: ActorContext,
  rules: readonly ClaimRule[],
  values: readonly string[],
): Promise<ClaimContent> {
  const roles = new Map<string, string>();
  const teams: FollowedTeam[] = [];
  const unread = new Set<string | null>();
  const undecided = new Set<string>();
  for (const rule of rules.filter(({ value }) => values.includes(value))) {
    const organization = await findOrganization(context.db, rule.organization);
    const role = organization && (await roleOf(context, organization.id, rule.role));
    const teamId =
      organization && rule.team !== undefined
        ? await findTeamNamed(context.db, organization.id, rule.team)
        : undefined;
    if (!organization || role === undefined || (rule.team !== undefined && teamId === undefined)) {
      context.log.warn(
        { rule },
        'a rule of ENVARIUM_OIDC_RULES names something that does not exist, or an organization by a name that several have',
      );
      unread.add(organization?.id ?? null);
    }
    if (organization && role === undefined && !roles.has(organization.id)) undecided.add(organization.id);
    if (!organization || role === undefined) continue;
    if (!roles.has(organization.id)) roles.set(organization.id, role);
    if (teamId !== undefined) teams.push({ id: teamId, organizationId: organization.id });
  }
  return { roles, teams, unread, undecided };
}

/** @returns whether the change was made: the last administrator keeps the role */
async function unlessLastAdmin(
  context: ActorContext,
  organizationId: string,
  userId: string,
  change: () => Promise<void>,
): Promise<boolean> {
  try {
    await requireOtherAdmin(context, organizationId, userId);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    context.log.warn({ organizationId, userId }, 'a claim does not remove the last administrator');
    return false;
  }
  await change();
  return true;
}

/** Joins and leaves teams. @param isRead whether all rules about an organization could be read */
async function followTeams(
  context: ActorContext,
  userId: string,
  wanted: ClaimContent,
  isRead: (organizationId: string) => boolean,
): Promise<void> {
  const { db } = context;
  const audit = ({ id, organizationId }: FollowedTeam, changes: { added: string[]; removed: string[] }) =>
    recordAudit(context, {
      organizationId,
      action: 'team.updated',
      entityId: id,
      details: { ...changes, source: claimSource },
    });
  const wantedIds = new Set(wanted.teams.map(({ id }) => id));
  for (const team of await followedTeams(db, userId, claimSource)) {
    if (wantedIds.has(team.id) || !isRead(team.organizationId)) continue;
    await unfollowTeam(db, userId, claimSource, team.id);
    await audit(team, { added: [], removed: [userId] });
  }
  for (const team of wanted.teams)
    if (await followTeam(db, userId, claimSource, team.id))
      await audit(team, { added: [userId], removed: [] });
}

/**
 * In the transaction of the sign-in, as the person who signs in. A rule that cannot be read takes nothing away: what
 * it is about may only have another name.
 */
export async function followClaim(
  context: ActorContext,
  userId: string,
  wanted: ClaimContent,
): Promise<void> {
  const { db } = context;
  const audit = (action: string, organizationId: string, role: string) =>
    recordAudit(context, {
      organizationId,
      action,
      entityId: userId,
      details: { role, source: claimSource },
    });
  const isRead = (id: string) => !wanted.unread.has(null) && !wanted.unread.has(id);
  const memberships = new Map((await listMemberships(db, userId)).map((row) => [row.organization_id, row]));
  for (const [id, row] of memberships) {
    const role = wanted.roles.get(id);
    if (row.source !== claimSource || role === row.role) continue;
    if (role === undefined ? !isRead(id) : wanted.undecided.has(id)) continue;
    const change = () =>
      role === undefined
        ? leaveOrganization(context, id, userId)
        : updateMembership(db, id, userId, { role });
    const isMade = await unlessLastAdmin(context, id, userId, change);
    if (isMade) await audit(role === undefined ? 'user.removed' : 'user.roleChanged', id, role ?? row.role);
  }
  for (const [id, role] of wanted.roles) {
    if (memberships.has(id)) continue;
    await insertMembership(db, {
      organization_id: id,
      user_id: userId,
      role,
      status: 'Active',
      source: claimSource,
    });
    await audit('user.added', id, role);
  }
  await followTeams(context, userId, wanted, isRead);
}
