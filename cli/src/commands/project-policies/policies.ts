import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import { type PolicyFlag, policyFlags } from '#contract/project-policies/policy-flags.ts';
import { type PolicySetting, settingsInForce } from '#contract/project-policies/policy-origins.ts';
import type { Policy } from '#contract/project-policies/shapes.ts';
import { without } from '#contract/schema/without-nulls.ts';
import { onCall } from '../../call/command-line.ts';
import { findOrganization, projectOf } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { addPolicyTestCommand } from '../approval-policies/test-policy.ts';
import { policyTtl } from './policy-ttl.ts';

type ProjectPolicyBody = CallInput<'updatePolicy'>['body'];

/** Meaning of each flag of a policy that is on. */
const meanings: Readonly<Record<PolicyFlag, string>> = {
  requiresApprovalDefault: 'new environments require approval',
  includeCostEstimation: 'plans estimate costs',
  skipApplyWhenPlanIsEmpty: 'deploys with an empty plan skip the apply',
  disableDestroyEnvironments: 'environments cannot be destroyed; removes lifetimes and destroy schedules',
  forceCheckoutOnTtlDestroy: 'expired environments are destroyed with the newest code',
  skipRedundantDeployments: 'queued deploys that a newer one replaces are skipped',
  continuousDeploymentDefault: 'new environments are deployed on pushes (not yet in effect)',
  runPullRequestPlanDefault: 'new environments plan pull requests (not yet in effect)',
  vcsPrCommentsEnabledDefault: 'new environments read comments on pull requests (not yet in effect)',
  forceRemoteBackend: 'the service stores the states of new environments',
  outputsAsInputsEnabled: 'outputs of its environments can be used in variables elsewhere',
};

const columns: TableColumn<PolicySetting>[] = [
  { head: 'SETTING', value: ({ field }) => field, isWhole: true },
  { head: 'NOW', value: ({ field, value }) => valueText(field, value), isWhole: true },
  { head: 'FROM', value: ({ from }) => from, isWhole: true },
];

function valueText(field: string, value: PolicySetting['value']): string {
  if (value === null) return field.endsWith('Ttl') ? 'infinite' : 'no limit';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === '' ? 'none' : String(value);
}

async function show(session: CommandSession, policy: Policy): Promise<void> {
  const { output, isJson } = session;
  if (isJson) return output.json(policy);
  const organization = await findOrganization(session);
  return output.table(settingsInForce(policy, organization), columns, 'No settings.');
}

interface SetPolicyFlags extends Partial<Record<PolicyFlag, boolean>> {
  readonly selfApprovalForbidden?: boolean;
  readonly selfApprovalAsAbove?: true;
  readonly numberOfEnvironments?: string;
  readonly numberOfEnvironmentsTotal?: string;
  readonly maxTtl?: string;
  readonly defaultTtl?: string;
  readonly driftDetectionCron?: string | false;
  readonly autoDriftRemediation?: Policy['autoDriftRemediation'];
}

/** @throws BadCall */
function limitOf(flag: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  if (!/^\d{1,7}$/.test(text)) throw new BadCall(`${flag} must be a whole number or none, not "${text}".`);
  return Number(text);
}

function driftOf(cron: SetPolicyFlags['driftDetectionCron']): Partial<ProjectPolicyBody> {
  if (cron === undefined) return {};
  return cron === false
    ? { driftDetectionEnabled: false, driftDetectionCron: '' }
    : { driftDetectionEnabled: true, driftDetectionCron: cron };
}

/** Changes from the options. @throws BadCall */
function changesOf(options: SetPolicyFlags): Partial<ProjectPolicyBody> {
  const values: Partial<ProjectPolicyBody> = {
    ...Object.fromEntries(policyFlags.map((name) => [name, options[name]])),
    numberOfEnvironments: limitOf('--number-of-environments', options.numberOfEnvironments),
    numberOfEnvironmentsTotal: limitOf('--number-of-environments-total', options.numberOfEnvironmentsTotal),
    maxTtl: policyTtl('--max-ttl', options.maxTtl, ['inherit']),
    defaultTtl: policyTtl('--default-ttl', options.defaultTtl, ['inherit']),
    ...driftOf(options.driftDetectionCron),
    autoDriftRemediation: options.autoDriftRemediation,
    selfApprovalForbidden: options.selfApprovalAsAbove ? null : options.selfApprovalForbidden,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function addSet(group: Command): void {
  const set = group
    .command('set <project>')
    .description('change the policy of a project; omitted settings are unchanged')
    .option('--number-of-environments <number>', 'active environments of each user; none: any number')
    .option('--number-of-environments-total <number>', 'active environments of the project; none: any number')
    .option(
      '--max-ttl <lifetime>',
      "maximum lifetime: 12h, 3d, 2w, 1M, infinite, or inherit (the organization's)",
    )
    .option('--default-ttl <lifetime>', 'lifetime of environments created without one, in the same format')
    .option('--drift-detection-cron <cron>', 'drift checks of new environments: a cron expression, in UTC')
    .option('--no-drift-detection-cron', 'new environments have no schedule of drift detection')
    .option(
      '--auto-drift-remediation <strategy>',
      'reaction of new environments to drift: DISABLED or CODE_TO_CLOUD',
    );
  set.option('--self-approval-forbidden', 'people must not approve plans that they started');
  set.option('--no-self-approval-forbidden', 'they may');
  set.option('--self-approval-as-above', 'same as in the nearest project above');
  for (const name of policyFlags) {
    set.option(`--${kebab(name)}`, meanings[name]);
    set.option(`--no-${kebab(name)}`, 'turn this off');
  }
  onCall<SetPolicyFlags>(set, async ({ session, args: [name = ''], options }) => {
    const changes = changesOf(options);
    if (Object.keys(changes).length === 0) throw new BadCall('Specify at least one setting.');
    const { id: projectId } = await projectOf(session, name);
    const known = await session.client.call('getPolicy', { query: { projectId } });
    const settings = without(known, ['id', 'organizationId', 'updatedBy', 'isSelfApprovalForbidden']);
    return show(session, await session.client.call('updatePolicy', { body: { ...settings, ...changes } }));
  });
}

export function addPolicyCommands(program: Command): void {
  const group = program
    .command('policies')
    .alias('policy')
    .description('policies of projects: limits, lifetimes, defaults of new environments');
  onCall(
    group
      .command('show <project>')
      .description('show the settings that apply in a project, and where they come from'),
    async ({ session, args: [name = ''] }) => {
      const { id: projectId } = await projectOf(session, name);
      return show(session, await session.client.call('getPolicy', { query: { projectId } }));
    },
  );
  addSet(group);
  addPolicyTestCommand(group);
  onCall(
    group.command('limits <project>').description('show whether you may have one more active environment'),
    async ({ session, args: [name = ''] }) => {
      const { client, output, isJson } = session;
      const { id: projectId } = await projectOf(session, name);
      const found = await client.call('checkPolicyLimits', { query: { projectId } });
      if (isJson) return output.json(found);
      const text = (active: number, isReached: boolean) => `${active}${isReached ? ' (limit reached)' : ''}`;
      return output.fields([
        ['Active environments', text(found.total, found.warnings.total)],
        ['Yours', text(found.user, found.warnings.user)],
      ]);
    },
  );
}
