/** The request that creates the environment of a folder. Pure. */
import type { CreateEnvironmentBody } from '#contract/environments/create-environment.ts';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import type { FolderRow } from '../../rows/discovery/folder-store.ts';
import type { HostCredentials } from '../../rows/templates/columns.ts';
import { deployGlobFor } from './matching/deploy-glob.ts';
import type { DiscoveryRule } from './scan-reading.ts';

/** The address with its credentials, as people write it. */
function addressWith(repository: string, credentials: HostCredentials | null): string {
  if (credentials === null) return repository;
  const url = new URL(repository);
  url.username = encodeURIComponent(credentials.username);
  url.password = encodeURIComponent(credentials.password);
  return url.href;
}

/** Pushes and pull requests start runs of what was found, where its folder or the custom glob is concerned. */
export function environmentBody(
  { scan, rule }: { readonly scan: { readonly commit_hash: string | null }; readonly rule: DiscoveryRule },
  row: Pick<FolderRow, 'folder' | 'environment_name' | 'environment_project_id' | 'workspace_name'>,
): CreateEnvironmentBody {
  const { place, settings, columns, repository, credentials } = rule;
  const { creationScope: _, creationScopeId: _id, policyConfiguration: _policy, ...source } = settings;
  const customGlob = columns.auto_deploy_by_custom_glob;
  return {
    ...source,
    organizationId: place.organizationId,
    projectId: row.environment_project_id ?? place.projectId,
    name: row.environment_name ?? row.folder,
    repository: addressWith(repository, credentials),
    // Workflows are refused where environments are created, as for everybody.
    type: (columns.type ?? 'opentofu') as TemplateType,
    path: row.folder,
    ...(row.workspace_name === null ? {} : { workspaceName: row.workspace_name }),
    continuousDeployment: true,
    pullRequestPlanDeployments: true,
    autoDeployOnPathChangesOnly: true,
    ...(customGlob === null ? {} : { autoDeployByCustomGlob: deployGlobFor(customGlob, row.folder) }),
    deployRequest: {
      deploymentType: 'deploy',
      comment: `Found by environment discovery${scan.commit_hash === null ? '' : ` at ${scan.commit_hash}`}`,
    },
  };
}
