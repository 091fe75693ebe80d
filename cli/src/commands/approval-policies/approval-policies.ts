/** Commands about approval policies. */
import type { Command } from 'commander';
import type { CataloguePolicy } from '#contract/approval-policies/catalogue.ts';
import type { GivenVerdict } from '#contract/approval-policies/shapes.ts';
import type { ApprovalPolicyEntry } from '#contract/custom-flows/shapes.ts';
import { onCall, wholeNumber } from '../../call/command-line.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { addPolicyEditCommands } from './edit-policies.ts';
import { findPolicy } from './find-policy.ts';

const scopeWords = { ORGANIZATION: 'organization', PROJECT: 'project', BLUEPRINT: 'template' } as const;

/** Places of a policy, as far as the caller may see them. */
function placesText({ assignments }: ApprovalPolicyEntry): string {
  return assignments.map(({ scope, scopeName }) => `${scopeWords[scope]} ${scopeName}`).join(', ');
}

const columns: TableColumn<ApprovalPolicyEntry>[] = [
  { head: 'NAME', value: ({ policy }) => policy.name },
  { head: 'ASSIGNED TO', value: (entry) => placesText(entry) || 'nothing' },
  { head: 'REPOSITORY', value: ({ policy }) => policy.repository, isExtra: true },
  { head: 'FOLDER', value: ({ policy }) => policy.path ?? '', isExtra: true },
  { head: 'ID', value: ({ policy }) => policy.id, isId: true },
];

const catalogueColumns: TableColumn<CataloguePolicy>[] = [
  { head: 'FOLDER', value: ({ path }) => path, isWhole: true },
  { head: 'CATEGORIES', value: ({ categories }) => categories.join(', ') },
  { head: 'CLOUD', value: ({ cloudProvider }) => cloudProvider },
  { head: 'NAME', value: ({ name }) => name },
];

async function show({ output, isJson }: CommandSession, entry: ApprovalPolicyEntry): Promise<void> {
  const { policy, assignments } = entry;
  if (isJson) return output.json(entry);
  const { policyConfiguration: configuration } = policy;
  return output.fields([
    ['Name', policy.name],
    ['Id', policy.id],
    ['Repository', policy.repository],
    ['Revision', policy.revision],
    ['Folder', policy.path],
    ['Configuration', configuration && JSON.stringify(configuration)],
    ['Assigned to', placesText(entry) || 'nothing'],
    ['Hash', assignments.find(({ hash }) => hash !== undefined)?.hash],
    ['Changed', timeText(policy.updatedAt)],
  ]);
}

async function showCatalogued({ output, isJson }: CommandSession, policy: CataloguePolicy): Promise<void> {
  if (isJson) return output.json(policy);
  await output.fields([
    ['Name', policy.name],
    ['Folder', policy.path],
    ['Categories', policy.categories.join(', ')],
    ['Cloud', policy.cloudProvider],
    ['Description', policy.description],
    ['Explanation', policy.explanation],
    ['Configuration', policy.configurationSchema && JSON.stringify(policy.configurationSchema.properties)],
  ]);
  return output.line(`\nUse it: envarium approval-policies create <name> --catalogue ${policy.path}`);
}

function addReads(group: Command): void {
  onCall(group.command('list').description('list approval policies'), async ({ session }) => {
    const { id: organizationId } = await findOrganization(session);
    const all = await session.client.call('listApprovalPolicies', { query: { organizationId } });
    return session.list(
      all,
      columns,
      'No approval policies: "approval-policies catalogue" lists some to use.',
    );
  });
  onCall(
    group.command('show <approval-policy>').description('show an approval policy: its id or exact name'),
    async ({ session, args: [idOrName = ''] }) =>
      show(session, await findPolicy(session, (await findOrganization(session)).id, idOrName)),
  );
  onCall(
    group
      .command('catalogue [folder]')
      .description('list the approval policies that come with the service, or explain one'),
    async ({ session, args: [folder] }) => {
      const all = await session.client.call('listCataloguePolicies', {});
      if (folder !== undefined) {
        const policy = all.find(({ path }) => path === folder);
        if (policy) return showCatalogued(session, policy);
        throw new BadCall(
          `The catalogue has no "${folder}": "approval-policies catalogue" lists what it has.`,
        );
      }
      return session.list(all, catalogueColumns, '');
    },
  );
}

const verdictColumns: TableColumn<GivenVerdict>[] = [
  { head: 'WHEN', value: ({ at }) => timeText(at) },
  { head: 'ENVIRONMENT', value: ({ environmentName }) => environmentName },
  { head: 'DECISION', value: ({ decision }) => decision, isWhole: true },
  { head: 'MESSAGE', value: (verdict) => messagesOf(verdict)[0] ?? '' },
  { head: 'DEPLOYMENT', value: ({ deploymentId }) => deploymentId, isId: true },
];

/** Reasons of a verdict for its decision. */
function messagesOf({ decision, messages, error }: GivenVerdict): readonly string[] {
  if (decision === 'error') return [error ?? ''];
  return decision === 'none' ? messages.warn : messages[decision];
}

function addVerdicts(group: Command): void {
  const verdicts = group
    .command('verdicts <approval-policy>')
    .description('verdicts of an approval policy about plans, newest first')
    .option('--limit <number>', 'at most this many (default: 25)', wholeNumber('--limit', 1));
  onCall<{ limit?: number }>(verdicts, async ({ session, args: [idOrName = ''], options: { limit } }) => {
    const { client } = session;
    const { policy } = await findPolicy(session, (await findOrganization(session)).id, idOrName);
    const all = await client.call('listPolicyVerdicts', {
      params: { id: policy.id },
      query: limit === undefined ? {} : { limit },
    });
    return session.list(all, verdictColumns, 'No plan has been evaluated yet.');
  });
}

export function addApprovalPolicyCommands(program: Command): void {
  const group = program
    .command('approval-policies')
    .alias('approval-policy')
    .description('rules that decide whether a plan may be applied');
  addReads(group);
  addVerdicts(group);
  addPolicyEditCommands(group);
}
