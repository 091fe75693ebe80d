/** Settings of an environment that outlive its deployments: archive, project, lifetime, schedules and tags. */
import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { lifetimeOf } from '../call/lifetime.ts';
import { findEnvironment, findOrganization, findProject } from '../find/find-environment.ts';
import { BadCall } from '../session/exit-codes.ts';
import { type CommandSession, tell } from '../session/session.ts';
import { canAsk, confirm } from '../terminal/ask.ts';
import { timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';
import { optionOf } from '../terminal/suggest.ts';
import { findTemplate } from './templates/find-template.ts';

type DriftBody = CallInput<'updateDriftSchedule'>['body'];
/** The others would open pull requests: the service refuses them. */
const remediations = ['DISABLED', 'CODE_TO_CLOUD'] as const satisfies readonly NonNullable<
  DriftBody['autoDriftRemediation']
>[];

interface ScheduleFlags {
  readonly timeZone?: string;
  readonly deploy?: string | false;
  readonly destroy?: string | false;
}

interface DriftScheduleFlags {
  readonly timeZone?: string;
  readonly cron?: string;
  readonly off?: boolean;
  readonly remediation?: string;
}

/** Prints what has changed, or the environment as JSON. */
function publishChange(session: CommandSession, environment: Environment, sentence: string): Promise<void> {
  return session.answer(environment, () => `${plain(environment.name)} ${sentence}`);
}

function addArchiveCommands(group: Command): void {
  const set = async (session: CommandSession, name: string, isArchived: boolean) => {
    const { id } = await findEnvironment(session, name);
    const environment = await session.client.call('updateEnvironment', {
      params: { id },
      body: { isArchived },
    });
    return publishChange(
      session,
      environment,
      isArchived ? 'is archived; nothing was destroyed' : 'is restored',
    );
  };
  onCall(
    group.command('archive <environment>').description('archive it without destroying anything'),
    ({ session, args: [name = ''] }) => set(session, name, true),
  );
  onCall(
    group.command('restore <environment>').description('restore it from the archive'),
    ({ session, args: [name = ''] }) => set(session, name, false),
  );
}

async function confirmDeletion({ name }: Environment): Promise<void> {
  if (!(await confirm(`Delete "${plain(name)}" with its deployments, logs and variables?`)))
    throw new BadCall('Nothing was deleted.');
}

function addDelete(group: Command): void {
  const remove = group
    .command('delete <environment>')
    .description('delete an environment that never had resources: its id or exact name')
    .option('-y, --yes', 'do not ask for confirmation; without a terminal, there is no prompt');
  onCall<{ readonly yes?: boolean }>(remove, async ({ session, args: [name = ''], options }) => {
    const environment = await findEnvironment(session, name);
    if (!options.yes && canAsk()) await confirmDeletion(environment);
    const deleted = await session.client.call('deleteEnvironment', { params: { id: environment.id } });
    return session.answer(deleted, `${plain(environment.name)} is deleted`);
  });
}

function addMove(group: Command): void {
  const move = group
    .command('move <environment> <project>')
    .description('move it to another project, with its state and history');
  onCall(move, async ({ session, args: [name = '', target = ''] }) => {
    const { id, organizationId } = await findEnvironment(session, name);
    const project = await findProject(session.client, organizationId, target);
    const environment = await session.client.call('moveEnvironment', {
      params: { id },
      body: { projectId: project.id },
    });
    return publishChange(session, environment, `was moved to project ${plain(project.name)}`);
  });
}

function addTtl(group: Command): void {
  const ttl = group
    .command('ttl <environment> <lifetime>')
    .description('set its lifetime: 12h, 3d or 2w, a time, or infinite');
  onCall(ttl, async ({ session, args: [name = '', lifetime = ''] }) => {
    const body = lifetimeOf('The lifetime', lifetime);
    const { id } = await findEnvironment(session, name);
    const environment = await session.client.call('updateEnvironmentTtl', { params: { id }, body });
    const end = timeText(environment.lifespanEndAt);
    return publishChange(
      session,
      environment,
      end === '' ? 'has no expiry' : `expires at ${end} and is then destroyed`,
    );
  });
}

/** Schedules take the place of a lifetime: the removed lifetime is reported. */
async function publishLifetime(
  { client }: CommandSession,
  { id, lifespanEndAt }: Environment,
): Promise<void> {
  if (!lifespanEndAt) return;
  const now = await client.call('getEnvironment', { params: { id } });
  if (!now.lifespanEndAt)
    tell(`It no longer expires at ${timeText(lifespanEndAt)}: schedules take the place of its lifetime.`);
}

function addSchedule(group: Command): void {
  const schedule = group
    .command('schedule <environment>')
    .description('show or change its deploy and destroy schedules; omitted schedules are unchanged')
    .option('--deploy <cron>', 'five fields (minute, hour, day of month, month, day of week)')
    .option('--no-deploy', 'stop scheduled deployments')
    .option('--destroy <cron>', 'cron expression of the destroy schedule')
    .option('--no-destroy', 'stop scheduled destroys')
    .option(
      '--time-zone <name>',
      'time zone of both, such as Europe/Berlin (new schedules: UTC unless specified)',
    );
  onCall<ScheduleFlags>(schedule, async ({ session, args: [name = ''], options }) => {
    const { client, output, isJson } = session;
    const environment = await findEnvironment(session, name);
    const params = { id: environment.id };
    const known = await client.call('getEnvironmentSchedule', { params });
    const isChanged = [options.deploy, options.destroy, options.timeZone].some((each) => each !== undefined);
    const wanted = (kind: 'deploy' | 'destroy') => {
      const option = options[kind];
      const { cron, enabled, timeZone: current } = known[kind] ?? {};
      const timeZone = options.timeZone ?? current;
      if (option === undefined) return cron === undefined ? undefined : { cron, enabled, timeZone };
      return option === false ? undefined : { cron: option, timeZone };
    };
    const body = { deploy: wanted('deploy'), destroy: wanted('destroy') };
    const isStopping = options.deploy === false || options.destroy === false;
    if (options.timeZone !== undefined && !isStopping && !body.deploy && !body.destroy)
      throw new BadCall('--time-zone: there is no schedule: specify --deploy or --destroy, too.');
    const now = isChanged ? await client.call('updateEnvironmentSchedule', { params, body }) : known;
    if (isJson) return output.json(now);
    if (isChanged) await publishLifetime(session, environment);
    const text = (one: typeof now.deploy) =>
      one === undefined
        ? 'never'
        : `${one.cron} ${one.timeZone}${one.enabled ? '' : ' (off)'}${one.nextSchedule ? `, next at ${timeText(one.nextSchedule)}` : ''}`;
    return output.fields([
      ['Deployed', text(now.deploy)],
      ['Destroyed', text(now.destroy)],
    ]);
  });
}

function addDriftSchedule(group: Command): void {
  const schedule = group
    .command('drift-schedule <environment>')
    .description('show or change its drift checks; omitted settings are unchanged')
    .option('--cron <cron>', 'five fields (minute, hour, day of month, month, day of week)')
    .option(
      '--time-zone <name>',
      'its time zone, such as Europe/Berlin (new schedules: UTC unless specified)',
    )
    .option('--off', 'stop drift checks')
    .addOption(optionOf('--remediation <strategy>', 'what to do about drift', remediations));
  schedule.options.find(({ long }) => long === '--off')?.conflicts('cron');
  onCall<DriftScheduleFlags>(schedule, async ({ session, args: [name = ''], options }) => {
    const { client, output, isJson } = session;
    const params = { id: (await findEnvironment(session, name)).id };
    const known = await client.call('getDriftSchedule', { params });
    const { cron, off, remediation, timeZone } = options;
    const isSetting = remediation !== undefined || timeZone !== undefined;
    if (isSetting && cron === undefined && !off && known.cron === '')
      throw new BadCall('There is no drift schedule yet: --cron is required.');
    const body: DriftBody = {
      enabled: off ? false : cron !== undefined || known.enabled,
      cron,
      timeZone,
      autoDriftRemediation: remediation as DriftBody['autoDriftRemediation'],
    };
    const isChanged =
      cron !== undefined || off === true || remediation !== undefined || timeZone !== undefined;
    const now = isChanged ? await client.call('updateDriftSchedule', { params, body }) : known;
    if (isJson) return output.json(now);
    return output.fields([
      ['Drift', now.enabled ? `checked at ${now.cron} ${now.timeZone ?? ''}` : 'not checked automatically'],
      ['Next', now.enabled && now.nextSchedule ? timeText(now.nextSchedule) : undefined],
      ['Remediation', now.autoDriftRemediation],
    ]);
  });
}

function addTemplateCommands(group: Command): void {
  const save = group
    .command('save-as-template <environment>')
    .description('create a template from an environment without a template, for use by others')
    .requiredOption('--name <name>', 'name of the template');
  onCall<{ name: string }>(save, async ({ session, args: [idOrName = ''], options }) => {
    const { id } = await findEnvironment(session, idOrName);
    const body = { newName: options.name };
    const changed = await session.client.call('setEnvironmentTemplate', { params: { id }, body });
    return publishChange(
      session,
      changed,
      `uses the template "${plain(options.name)}" now, and others can use it`,
    );
  });
  const change = group
    .command('change-template <environment>')
    .description('use another template from the next deployment on')
    .requiredOption('--template <template>', 'its id or exact name');
  onCall<{ template: string }>(change, async ({ session, args: [idOrName = ''], options }) => {
    const { id, organizationId } = await findEnvironment(session, idOrName);
    const template = await findTemplate(session.client, organizationId, options.template);
    const body = { blueprintId: template.id };
    const changed = await session.client.call('setEnvironmentTemplate', { params: { id }, body });
    return publishChange(
      session,
      changed,
      `uses the template "${plain(template.name)}" from its next deployment on`,
    );
  });
}

function addTags(group: Command): void {
  const tags = group
    .command('tags')
    .description('list the tags of environments')
    .option('--project <project>', 'only those in this project: its id or exact name');
  onCall<{ project?: string }>(tags, async ({ session, options }) => {
    const { client } = session;
    const organization = await findOrganization(session);
    const projectId =
      options.project === undefined
        ? undefined
        : (await findProject(client, organization.id, options.project)).id;
    const query = projectId === undefined ? { organizationId: organization.id } : { projectId };
    const all = await client.call('listEnvironmentTags', { query });
    return session.answer(all, () => (all.length === 0 ? 'No tags.' : all.map(plain).join('\n')));
  });
}

/** Adds the commands that change one setting each. */
export function addSettingsCommands(group: Command): void {
  addArchiveCommands(group);
  addDelete(group);
  addMove(group);
  addTtl(group);
  addSchedule(group);
  addDriftSchedule(group);
  addTemplateCommands(group);
  addTags(group);
}
