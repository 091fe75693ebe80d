/** Commands that create, change, delete and assign approval policies. */
import type { Command } from 'commander';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { ApiError, type CallInput } from '#contract/client/client.ts';
import type { ApprovalPolicy } from '#contract/custom-flows/shapes.ts';
import { gather, onCall } from '../../call/command-line.ts';
import { textFromFile } from '../../call/read-input.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import { type CommandSession, tell } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import { type SourceFlags, sourceFields } from '../templates/source-flags.ts';
import { findPlace, findPolicy, type PolicyPlaceFlags } from './find-policy.ts';

type ApprovalPolicyUpdate = CallInput<'updateApprovalPolicy'>['body'];

interface EditPolicyFlags extends SourceFlags {
  readonly name?: string;
  readonly catalogue?: string;
  readonly configuration?: string;
}

/** An object as JSON, or in the file after `@`. @throws BadCall for anything else */
export function configurationOf(text: string): Record<string, unknown> {
  const json = text.startsWith('@') ? textFromFile('--configuration', text.slice(1)) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new BadCall(`--configuration must be JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadCall('--configuration must be a JSON object, such as {"maxCostIncrease": 100}.');
  return value as Record<string, unknown>;
}

function withEditFlags(command: Command): Command {
  return command
    .option('--catalogue <folder>', 'a policy of the catalogue, as "approval-policies catalogue" lists them')
    .option('--repository <address>', 'git repository with the policy')
    .option('--revision <revision>', 'branch, tag or commit (default: the default branch)')
    .option('--path <folder>', 'folder of the policy in the repository (default: its root)')
    .option('--git-token <git-token>', 'id or exact name of a git token to read the repository with')
    .option('--ssh-key <key>', 'id or exact name of an ssh key to read it with; may be repeated', gather)
    .option(
      '--configuration <json>',
      "the policy's configuration as a JSON object; @file reads it from a file",
    );
}

async function fieldsOf(
  { client }: CommandSession,
  organizationId: string,
  flags: EditPolicyFlags,
): Promise<Partial<ApprovalPolicyUpdate>> {
  const { catalogue, configuration } = flags;
  if (catalogue !== undefined && (flags.repository !== undefined || flags.path !== undefined))
    throw new BadCall('Specify either --catalogue, or --repository and --path.');
  return {
    ...(catalogue === undefined
      ? await sourceFields(client, organizationId, flags, 'approval-policy')
      : { repository: catalogueRepository, path: catalogue }),
    ...(configuration === undefined ? {} : { policyConfiguration: configurationOf(configuration) }),
  };
}

/** Says at once what deployments would fail by: that the service cannot read the policy as it is stored. */
async function tellUnreadable({ client }: CommandSession, policy: ApprovalPolicy): Promise<void> {
  const { organizationId, repository, revision, path, tokenId, vcsConnectionId, sshKeys } = policy;
  if (repository === catalogueRepository) return;
  const sshKeyIds = sshKeys && JSON.stringify(sshKeys.map(({ id }) => id));
  const query = { organizationId, repository, revision, path, tokenId, vcsConnectionId, sshKeyIds };
  try {
    await client.call('getPolicySchema', { query });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reason = error.message.replace(/^\/query\/\w+ is refused: /, '');
    tell(
      `The policy cannot be read at the moment: ${plain(reason)}. Deployments that it checks fail until then.`,
    );
  }
}

function addCreate(group: Command): void {
  const create = withEditFlags(group.command('create <name>').description('create an approval policy'));
  onCall<EditPolicyFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    const { id: organizationId } = await findOrganization(session);
    const { repository, ...fields } = await fieldsOf(session, organizationId, options);
    if (!repository) throw new BadCall('Specify --catalogue, or --repository with the policy.');
    const policy = await client.call('createApprovalPolicy', {
      body: { ...fields, organizationId, name, repository },
    });
    await tellUnreadable(session, policy);
    return session.answer(
      policy,
      () => `Approval policy ${plain(name)} was created: ${policy.id}. It is not assigned yet.`,
    );
  });
}

/** Fields that a change sends back as they were read. */
const keptFields = [
  ...['name', 'repository', 'revision', 'path', 'policyConfiguration', 'tokenId', 'sshKeys'],
  ...['githubInstallationId', 'bitbucketClientKey', 'vcsConnectionId', 'isBitbucketServer'],
  ...['isGitLabEnterprise', 'isGitHubEnterprise', 'isGitLab', 'isAzureDevOps'],
] as readonly (keyof ApprovalPolicyUpdate & keyof ApprovalPolicy)[];

/** A policy as a request describes it. */
function bodyOf(policy: ApprovalPolicy): ApprovalPolicyUpdate {
  const kept = keptFields.flatMap((field) => (policy[field] === undefined ? [] : [[field, policy[field]]]));
  return { ...(Object.fromEntries(kept) as ApprovalPolicyUpdate), id: policy.id };
}

function addUpdate(group: Command): void {
  const update = withEditFlags(
    group
      .command('update <approval-policy>')
      .description('change an approval policy; omitted settings are unchanged, an empty text clears one'),
  ).option('--name <name>', 'its new name');
  onCall<EditPolicyFlags>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { client } = session;
    const { id: organizationId } = await findOrganization(session);
    const { policy } = await findPolicy(session, organizationId, idOrName);
    const body = {
      ...bodyOf(policy),
      ...(options.catalogue === undefined ? {} : { revision: '', tokenId: '', sshKeys: [] }),
      ...(await fieldsOf(session, organizationId, options)),
      ...(options.name === undefined ? {} : { name: options.name }),
    };
    const filled = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== ''),
    ) as ApprovalPolicyUpdate;
    const changed = await client.call('updateApprovalPolicy', { body: filled });
    await tellUnreadable(session, changed);
    return session.answer(
      changed,
      () => `Approval policy ${plain(changed.name)} was changed; its assignments stay`,
    );
  });
}

function addDelete(group: Command): void {
  onCall(
    group
      .command('delete <approval-policy>')
      .description('delete an approval policy and its assignments: its id or exact name'),
    async ({ session, args: [idOrName = ''] }) => {
      const { client } = session;
      const { policy } = await findPolicy(session, (await findOrganization(session)).id, idOrName);
      const deleted = await client.call('deleteApprovalPolicy', { params: { id: policy.id } });
      return session.answer(deleted, `Approval policy ${plain(policy.name)} was deleted`);
    },
  );
}

function withPlaceFlags(command: Command): Command {
  return command
    .option('--project <project>', 'id or exact name of a project, with the projects below it')
    .option('--template <template>', 'id or exact name of a template')
    .option('--whole-organization', 'all environments of the organization');
}

function addAssignments(group: Command): void {
  const assign = withPlaceFlags(
    group
      .command('assign <approval-policy>')
      .description(
        'let an approval policy check the plans of a project, of a template or of the organization',
      ),
  );
  onCall<PolicyPlaceFlags>(assign, async ({ session, args: [idOrName = ''], options }) => {
    const { client } = session;
    const place = await findPlace(session, options);
    const { policy } = await findPolicy(session, (await findOrganization(session)).id, idOrName);
    const done = await client.call('assignApprovalPolicy', { body: { ...place, blueprintId: policy.id } });
    return session.answer(done, `${plain(policy.name)} checks deployments from now on`);
  });
  const unassign = withPlaceFlags(
    group.command('unassign <approval-policy>').description('unassign an approval policy from such a place'),
  );
  onCall<PolicyPlaceFlags>(unassign, async ({ session, args: [idOrName = ''], options }) => {
    const { client } = session;
    const { scope, scopeId } = await findPlace(session, options);
    const { policy } = await findPolicy(session, (await findOrganization(session)).id, idOrName);
    const id = `${scope}#${scopeId}#${policy.id}`;
    const done = await client.call('unassignApprovalPolicy', { query: { id } });
    return session.answer(done, `${plain(policy.name)} no longer checks deployments there`);
  });
}

export function addPolicyEditCommands(group: Command): void {
  addCreate(group);
  addUpdate(group);
  addDelete(group);
  addAssignments(group);
}
