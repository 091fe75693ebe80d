import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import type { Organization } from '#contract/organizations/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { findOrganization, findProject } from '../find/find-environment.ts';
import { BadCall, exitCodes } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { plain } from '../terminal/safe-text.ts';
import type { TableColumn } from '../terminal/table.ts';
import { addLimitsCommand } from './counts/counts.ts';
import { policyTtl } from './project-policies/policy-ttl.ts';

type Policies = CallInput<'updateOrganizationPolicies'>['body'];

interface PolicyFlags {
  readonly maxTtl?: string;
  readonly defaultTtl?: string;
}

const columns: TableColumn<Organization>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'ROLE', value: ({ role }) => role },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
];

async function show({ output, isJson }: CommandSession, organization: Organization): Promise<void> {
  if (isJson) return output.json(organization);
  return output.fields([
    ['Name', organization.name],
    ['Id', organization.id],
    ['Description', organization.description],
    ['Role', organization.role],
    ['Maximum lifetime', organization.maxTtl ?? 'infinite'],
    ['Default lifetime', organization.defaultTtl ?? 'infinite'],
  ]);
}

function addPolicies(group: Command): void {
  const policies = group
    .command('policies')
    .description('show or change the policies of all environments; omitted policies are unchanged')
    .option('--max-ttl <lifetime>', 'maximum lifetime of an environment: 12h, 3d, 2w, 1M or infinite')
    .option('--default-ttl <lifetime>', 'lifetime of environments that are created without one');
  onCall<PolicyFlags>(policies, async ({ session, options }) => {
    const body: Policies = {
      maxTtl: policyTtl('--max-ttl', options.maxTtl),
      defaultTtl: policyTtl('--default-ttl', options.defaultTtl),
    };
    const known = await findOrganization(session);
    const isChanged = Object.values(body).some((value) => value !== undefined);
    const call = () => session.client.call('updateOrganizationPolicies', { params: { id: known.id }, body });
    return show(session, isChanged ? await call() : known);
  });
}

/** One line per event, as in a log. */
function lineOf(event: OrganizationStreamEvent): string | null {
  switch (event.event) {
    case 'deployment':
      return `deployment ${event.data.deploymentLogId} ${event.data.type} ${event.data.status} environment ${event.data.environmentId}`;
    case 'step':
      return `step ${event.data.deploymentLogId} ${event.data.name} ${event.data.status}`;
    case 'environment':
      return `environment ${event.data.environmentId} ${event.data.change} ${event.data.name} ${event.data.status}`;
    case 'changed':
      return `changed ${event.data.entity} ${event.data.id}`;
    case 'reset':
      return 'some events were missed: list deployments and environments again';
    default:
      return null;
  }
}

function addEvents(group: Command): void {
  const events = group
    .command('events')
    .description(
      'follow changes of deployments and environments until Ctrl-C; with --json, one event per line',
    )
    .option('--project <project>', 'only those in this project: its id or exact name');
  onCall<{ project?: string }>(events, async ({ session, options }) => {
    const { client, output, isJson } = session;
    const { id } = await findOrganization(session);
    const projectId =
      options.project === undefined ? undefined : (await findProject(client, id, options.project)).id;
    const interrupt = new AbortController();
    currentProcess().once('SIGINT', () => interrupt.abort());
    try {
      for await (const event of client.stream('streamOrganization', {
        params: { id },
        query: { projectId },
        signal: interrupt.signal,
      })) {
        const line = lineOf(event);
        if (isJson) await output.json(event, true);
        else if (line !== null) await output.line(plain(line));
      }
    } catch (error) {
      if (!interrupt.signal.aborted) throw error;
    }
    return interrupt.signal.aborted ? exitCodes.interrupted : exitCodes.good;
  });
}

export function addOrganizationCommands(program: Command): void {
  const group = program
    .command('organization')
    .alias('organizations')
    .description('organizations that the key has access to');
  onCall(group.command('list').description('list organizations'), async ({ session }) => {
    const organizations = await session.client.call('listOrganizations');
    return session.list(organizations, columns, 'This key has access to no organization.');
  });
  onCall(
    group.command('show [organization]').description('show an organization: its id'),
    async ({ session, args: [id] }) =>
      show(
        session,
        id === undefined
          ? await findOrganization(session)
          : await session.client.call('getOrganization', { params: { id } }),
      ),
  );
  const create = group
    .command('create <name>')
    .description('create an organization; its creator becomes its administrator')
    .option('--description <text>', 'what it is for');
  onCall<{ description?: string }>(create, async ({ session, args: [name = ''], options }) =>
    show(
      session,
      await session.client.call('createOrganization', { body: { name, description: options.description } }),
    ),
  );
  const update = group
    .command('update')
    .description('rename or describe an organization; omitted options are unchanged')
    .option('--name <name>', 'its new name')
    .option('--description <text>', 'what it is for');
  onCall<{ name?: string; description?: string }>(update, async ({ session, options }) => {
    const { name, description } = options;
    if (name === undefined && description === undefined)
      throw new BadCall('Specify --name or --description.');
    const params = { id: (await findOrganization(session)).id };
    return show(
      session,
      await session.client.call('updateOrganization', { params, body: { name, description } }),
    );
  });
  addPolicies(group);
  addLimitsCommand(group);
  addEvents(group);
}
