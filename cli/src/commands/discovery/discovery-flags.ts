/** Options that configure environment discovery: of `discovery set` and `discovery preview`. */
import type { Command } from 'commander';
import {
  discoveryTypes,
  environmentPlacements,
  removals,
  workspaceNamings,
} from '#contract/discovery/choices.ts';
import type { SetDiscoveryBody } from '#contract/discovery/operations.ts';
import { globSettingNames, settingsOf } from '#contract/discovery/setting-names.ts';
import type { Discovery } from '#contract/discovery/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { without } from '#contract/schema/without-nulls.ts';
import { gather, wholeNumber } from '../../call/command-line.ts';
import { orNotFound } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { optionOf } from '../../terminal/suggest.ts';
import { type RetryFlags, retryOf, withRetryFlags } from '../templates/retry-flags.ts';
import { sourceFields } from '../templates/source-flags.ts';
import { toolFields } from '../templates/tool-flags.ts';

export interface DiscoveryFlags extends RetryFlags {
  readonly repository?: string;
  readonly revision?: string;
  readonly glob?: string;
  readonly rootPath?: string;
  readonly type?: (typeof discoveryTypes)[number];
  readonly toolVersion?: string;
  readonly gitToken?: string;
  readonly sshKey?: string[];
  readonly placement?: (typeof environmentPlacements)[number];
  readonly workspaceNaming?: (typeof workspaceNamings)[number];
  readonly onRemoval?: (typeof removals)[number];
  readonly removalLimit?: number;
  readonly terragruntBinary?: 'opentofu' | 'terraform';
  readonly terragruntBinaryVersion?: string;
  readonly runAll?: boolean;
  readonly autoDeployGlob?: string;
  readonly fromPullRequests?: boolean;
  readonly discoveryFiles?: string;
  readonly description?: string;
}

export function withDiscoveryFlags(command: Command): Command {
  command
    .option('--repository <address>', 'git repository that contains the folders')
    .option('--revision <revision>', 'branch that is followed (default: the default branch)')
    .option('--glob <glob>', 'files whose folders become environments, such as "prod/**/main.tf"')
    .option('--root-path <folder>', 'folder that names of environments and sub-projects begin below')
    .addOption(optionOf('--type <tool>', 'tool of the environments (default: opentofu)', discoveryTypes))
    .option('--tool-version <version>', 'version of the tool, or latest')
    .option('--git-token <git-token>', 'id or exact name of a git token to read the repository with')
    .option('--ssh-key <key>', 'id or exact name of an ssh key to read it with; may be repeated', gather)
    .addOption(
      optionOf(
        '--placement <placement>',
        'project of the environments: this one, or the sub-project whose path the folder begins with (default: topProject)',
        environmentPlacements,
      ),
    )
    .addOption(
      optionOf('--workspace-naming <naming>', 'their workspaces (default: default)', workspaceNamings),
    )
    .addOption(
      optionOf('--on-removal <action>', 'for environments whose folder is gone (default: flag)', removals),
    )
    .option(
      '--removal-limit <percent>',
      'a scan that would archive or destroy a larger share of the environments asks first (default: 20)',
      wholeNumber('--removal-limit', 0),
    )
    .addOption(
      optionOf('--terragrunt-binary <tool>', 'what terragrunt runs (default: opentofu)', [
        'opentofu',
        'terraform',
      ]),
    )
    .option('--terragrunt-binary-version <version>', 'version of what terragrunt runs')
    .option('--run-all', 'terragrunt runs all units below each folder')
    .option('--no-run-all', 'terragrunt runs the unit in each folder')
    .option('--auto-deploy-glob <glob>', 'files whose changes deploy an environment (not yet in effect)')
    .option('--from-pull-requests', 'create environments from pull requests (not yet in effect)')
    .option('--no-from-pull-requests', 'do not')
    .option(
      '--discovery-files <regex>',
      'instead of a glob: owner/name of the repositories whose envarium-discovery.yml creates environments, as a regular expression',
    )
    .option('--description <text>', 'what it is for');
  return withRetryFlags(command);
}

/** The fields that are named like their options, or nearly. */
function plainFields(flags: DiscoveryFlags): Partial<SetDiscoveryBody> {
  const fields: { [Name in keyof SetDiscoveryBody]: SetDiscoveryBody[Name] | undefined } = {
    type: flags.type,
    globPattern: flags.glob,
    rootPath: flags.rootPath,
    environmentPlacement: flags.placement,
    workspaceNaming: flags.workspaceNaming,
    onRemoval: flags.onRemoval,
    removalLimitPercent: flags.removalLimit,
    autoDeployByCustomGlob: flags.autoDeployGlob,
    createNewEnvironmentsFromPullRequests: flags.fromPullRequests,
    description: flags.description,
    ...(flags.discoveryFiles === undefined
      ? {}
      : { discoveryFileConfiguration: { repositoryRegex: flags.discoveryFiles } }),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A glob excludes discovery files: what was stored for the other one is left out. */
function ofOneKind(body: SetDiscoveryBody, flags: DiscoveryFlags): SetDiscoveryBody {
  if (flags.discoveryFiles !== undefined && flags.glob !== undefined)
    throw new BadCall('Specify either --glob or --discovery-files.');
  if (flags.discoveryFiles !== undefined) return without(body, globSettingNames);
  return flags.glob === undefined ? body : without(body, ['discoveryFileConfiguration']);
}

/** The configuration of a project; null: it has none. */
export function storedDiscovery(session: CommandSession, projectId: string): Promise<Discovery | null> {
  return orNotFound(session.client.call('getDiscovery', { params: { projectId } }));
}

/**
 * The configuration that a project would have with these options, on top of what it has. An empty text clears a
 * setting.
 * @throws BadCall for an unknown token or key
 */
export async function discoveryBody(
  session: CommandSession,
  { id: projectId, organizationId }: Project,
  flags: DiscoveryFlags,
): Promise<SetDiscoveryBody> {
  const before = await storedDiscovery(session, projectId);
  const stored: SetDiscoveryBody = before === null ? {} : settingsOf(before);
  const type = flags.type ?? stored.type ?? 'opentofu';
  const body = {
    ...stored,
    ...plainFields(flags),
    ...(await sourceFields(session.client, organizationId, flags, type)),
    ...toolFields(flags, stored.terragruntTfBinary),
    retry: retryOf(flags, before?.retry),
  };
  const filled = Object.entries(ofOneKind(body, flags)).filter(([, value]) => value !== '');
  return Object.fromEntries(filled);
}
