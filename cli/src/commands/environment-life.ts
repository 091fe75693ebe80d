/**
 * What becomes of an environment between its deployments: locks, archive, project, lifetime, schedules, tags.
 */
import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { onCall } from '../command-line.ts';
import { timeText } from '../terminal/durations.ts';
import { BadCall } from '../exit-codes.ts';
import { findEnvironment, findOrganization, findProject } from '../find-environment.ts';
import { lifetimeOf } from '../lifetime.ts';
import type { Session } from '../session/session.ts';
import { optionOf } from '../terminal/suggest.ts';

type DriftBody = CallInput<'updateDriftSchedule'>['body'];
const remediations = [
  'DISABLED',
  'CODE_TO_CLOUD',
  'CLOUD_TO_CODE',
  'SMART_REMEDIATION',
] as const satisfies readonly NonNullable<DriftBody['autoDriftRemediation']>[];

interface ScheduleFlags {
  readonly deploy?: string | false;
  readonly destroy?: string | false;
}

interface DriftFlags {
  readonly cron?: string;
  readonly off?: boolean;
  readonly remediation?: string;
}

/** Says what has become of it, or answers it as JSON. */
async function tellChange(
  { output, isJson }: Session,
  environment: Environment,
  sentence: string,
): Promise<void> {
  return isJson ? output.json(environment) : output.line(`${environment.name} ${sentence}`);
}

function addLockCommands(group: Command): void {
  const lock = group
    .command('lock <environment>')
    .description('accept no deployments until it is unlocked')
    .option('--reason <text>', 'shown to those who are refused');
  onCall<{ reason?: string }>(lock, ({ session, args: [name = ''], options }) =>
    setLock(session, name, { isLocked: true, reason: options.reason }),
  );
  onCall(
    group.command('unlock <environment>').description('accept deployments again'),
    ({ session, args: [name = ''] }) => setLock(session, name, { isLocked: false }),
  );
}

/** Locks or unlocks an environment. @throws BadCall for a name that none or several have */
export async function setLock(
  session: Session,
  name: string,
  body: { isLocked: boolean; reason?: string | undefined },
): Promise<void> {
  const environment = await findEnvironment(session, name);
  const lock = await session.client.call('setEnvironmentLock', { params: { id: environment.id }, body });
  if (session.isJson) return session.output.json(lock);
  return session.output.line(`${environment.name} is ${lock.isLocked ? 'locked' : 'unlocked'}`);
}

function addArchiveCommands(group: Command): void {
  const set = async (session: Session, name: string, isArchived: boolean) => {
    const { id } = await findEnvironment(session, name);
    const environment = await session.client.call('updateEnvironment', {
      params: { id },
      body: { isArchived },
    });
    return tellChange(session, environment, isArchived ? 'is archived; nothing was destroyed' : 'is back');
  };
  onCall(
    group.command('archive <environment>').description('put it away without destroying anything'),
    ({ session, args: [name = ''] }) => set(session, name, true),
  );
  onCall(
    group.command('return <environment>').description('bring an archived one back'),
    ({ session, args: [name = ''] }) => set(session, name, false),
  );
}

function addMove(group: Command): void {
  const move = group
    .command('move <environment> <project>')
    .description('to another project, with its state and its history');
  onCall(move, async ({ session, args: [name = '', target = ''] }) => {
    const { id, organizationId } = await findEnvironment(session, name);
    const project = await findProject(session.client, organizationId, target);
    const environment = await session.client.call('moveEnvironment', {
      params: { id },
      body: { projectId: project.id },
    });
    return tellChange(session, environment, `is in project ${project.name} now`);
  });
}

function addTtl(group: Command): void {
  const ttl = group
    .command('ttl <environment> <lifetime>')
    .description('destroy it after 12h, 3d or 2w, at a time, or never: infinite');
  onCall(ttl, async ({ session, args: [name = '', lifetime = ''] }) => {
    const body = lifetimeOf('The lifetime', lifetime);
    const { id } = await findEnvironment(session, name);
    const environment = await session.client.call('updateEnvironmentTtl', { params: { id }, body });
    const end = timeText(environment.lifespanEndAt);
    return tellChange(
      session,
      environment,
      end === '' ? 'is not destroyed by itself' : `is destroyed at ${end} UTC`,
    );
  });
}

function addSchedule(group: Command): void {
  const schedule = group
    .command('schedule <environment>')
    .description('show or change when it is deployed and destroyed by itself; what is not given stays')
    .option('--deploy <cron>', 'five fields (minute, hour, day of month, month, day of week), in UTC')
    .option('--no-deploy', 'deploy it no more')
    .option('--destroy <cron>', 'the same for destroying it')
    .option('--no-destroy', 'destroy it no more');
  onCall<ScheduleFlags>(schedule, async ({ session, args: [name = ''], options }) => {
    const { client, output, isJson } = session;
    const params = { id: (await findEnvironment(session, name)).id };
    const known = await client.call('getEnvironmentSchedule', { params });
    const isChanged = options.deploy !== undefined || options.destroy !== undefined;
    const wanted = (kind: 'deploy' | 'destroy') => {
      const given = options[kind];
      const { cron, enabled } = known[kind] ?? {};
      if (given === undefined) return cron === undefined ? undefined : { cron, enabled };
      return given === false ? undefined : { cron: given };
    };
    const body = { deploy: wanted('deploy'), destroy: wanted('destroy') };
    const now = isChanged ? await client.call('updateEnvironmentSchedule', { params, body }) : known;
    if (isJson) return output.json(now);
    const text = (one: typeof now.deploy) =>
      one === undefined
        ? 'never'
        : `${one.cron}${one.enabled ? '' : ' (off)'}${one.nextSchedule ? `, next at ${timeText(one.nextSchedule)} UTC` : ''}`;
    return output.fields([
      ['Deployed', text(now.deploy)],
      ['Destroyed', text(now.destroy)],
    ]);
  });
}

function addDriftSchedule(group: Command): void {
  const schedule = group
    .command('drift-schedule <environment>')
    .description('show or change when drift is looked for; what is not given stays')
    .option('--cron <cron>', 'five fields (minute, hour, day of month, month, day of week), in UTC')
    .option('--off', 'look for drift no more')
    .addOption(optionOf('--remediation <strategy>', 'what to do about drift', remediations));
  schedule.options.find(({ long }) => long === '--off')?.conflicts('cron');
  onCall<DriftFlags>(schedule, async ({ session, args: [name = ''], options }) => {
    const { client, output, isJson } = session;
    const params = { id: (await findEnvironment(session, name)).id };
    const known = await client.call('getDriftSchedule', { params });
    const { cron, off, remediation } = options;
    if (remediation !== undefined && cron === undefined && !off && known.cron === '')
      throw new BadCall('Drift is never looked for: give --cron too.');
    const body: DriftBody = {
      enabled: off ? false : cron !== undefined || known.enabled,
      cron,
      autoDriftRemediation: remediation as DriftBody['autoDriftRemediation'],
    };
    const isChanged = cron !== undefined || off === true || remediation !== undefined;
    const now = isChanged ? await client.call('updateDriftSchedule', { params, body }) : known;
    if (isJson) return output.json(now);
    return output.fields([
      ['Drift', now.enabled ? `is looked for at ${now.cron}` : 'is not looked for by itself'],
      ['Next', now.enabled && now.nextSchedule ? `${timeText(now.nextSchedule)} UTC` : undefined],
      ['Remediation', now.autoDriftRemediation],
    ]);
  });
}

function addTags(group: Command): void {
  const tags = group
    .command('tags')
    .description('list the tags of environments')
    .option('--project <project>', 'only those of a project: its id or exact name');
  onCall<{ project?: string }>(tags, async ({ session, options }) => {
    const { client, output, isJson } = session;
    const organization = await findOrganization(session);
    const projectId =
      options.project === undefined
        ? undefined
        : (await findProject(client, organization.id, options.project)).id;
    const query = projectId === undefined ? { organizationId: organization.id } : { projectId };
    const all = await client.call('listEnvironmentTags', { query });
    if (isJson) return output.json(all);
    return output.line(all.length === 0 ? 'No tags.' : all.join('\n'));
  });
}

export function addLifeCommands(group: Command): void {
  addLockCommands(group);
  addArchiveCommands(group);
  addMove(group);
  addTtl(group);
  addSchedule(group);
  addDriftSchedule(group);
  addTags(group);
}
