/** Address, credentials and tests of the code of a module: the part of its record stored as one value. */
import type { ModuleFields } from '#contract/registry/module-operations.ts';
import { type WithoutNulls, withoutNulls } from '#contract/schema/without-nulls.ts';

const flags = [
  'moduleTestEnabled',
  'runTestsOnPullRequest',
  'isGitLab',
  'isGitLabEnterprise',
  'isGitHubEnterprise',
  'isBitbucketServer',
  'isAzureDevOps',
] as const;

const others = [
  'description',
  'logoUrl',
  'path',
  'tagPrefix',
  'opentofuVersion',
  'tokenId',
  'tokenName',
  'sshkeys',
  'githubInstallationId',
  'vcsConnectionId',
  'bitbucketClientKey',
  'gitlabProjectId',
] as const satisfies readonly (keyof ModuleFields)[];

export type ModuleSettings = WithoutNulls<Omit<ModuleFields, (typeof flags)[number]>> &
  Readonly<Record<(typeof flags)[number], boolean>> & { readonly repository: string };

type ModuleInput = ModuleFields & { readonly repository?: string };

/**
 * The settings after a change: null and an empty text clear a field, and so does the absence of `opentofuVersion`.
 * @param before null for a new module
 */
export function changedSettings(before: ModuleSettings | null, request: ModuleInput): ModuleSettings {
  const { opentofuVersion: _, ...kept } = before ?? {};
  const changes = Object.fromEntries(
    [...others, ...flags, 'repository' as const].flatMap((name) =>
      request[name] === undefined ? [] : [[name, request[name] === '' ? null : request[name]]],
    ),
  );
  const unset = Object.fromEntries(flags.map((name) => [name, false]));
  return withoutNulls({ ...unset, ...kept, ...changes }) as ModuleSettings;
}
