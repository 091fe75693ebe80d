/** Settings of what the service itself reads in repositories. */
import { type SettingTable, setting } from './declaration.ts';
import { count, networks } from './types.ts';

export const repositorySettings = {
  gitNetworks: setting({
    name: 'ENVARIUM_GIT_NETWORKS',
    type: networks,
    default: '',
    sentence:
      'Private and local networks in which the service itself reads repositories (variables, branches, policies); ' +
      'hosts of ENVARIUM_GIT_HTTP_HOSTS are allowed, too. Agents are not limited by it.',
  }),
  repositoryTimeLimitSeconds: setting({
    name: 'ENVARIUM_REPOSITORY_TIME_LIMIT_SECONDS',
    type: count(1, 3600),
    default: '60',
    sentence: 'Maximum time in which the service itself reads a repository, as for its variables.',
  }),
  repositoryLimitMegabytes: setting({
    name: 'ENVARIUM_REPOSITORY_LIMIT_MB',
    type: count(1, 100_000),
    default: '1024',
    sentence:
      'Maximum size of what the service itself fetches to read a repository: one commit, packed, without ' +
      'large files where the host can leave them out.',
  }),
} satisfies SettingTable;
