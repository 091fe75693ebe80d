/** Settings that the server hands to the agent it starts, and that other agents read themselves. */
import { type SettingTable, setting } from './declaration.ts';
import { toolMirrors } from './tool-mirrors.ts';
import { count, flag, folderOrAddress, oneWord, path, secretText } from './types.ts';

/** Read by the server, which passes them on to its built-in agent, and by agents elsewhere. */
export const sharedSettings = {
  toolCacheFolder: setting({
    name: 'ENVARIUM_TOOL_CACHE_DIR',
    type: path,
    sentence:
      'Where fetched tools are kept; the users of runs must be able to read there. Not set: below the data folder or the work folder.',
  }),
  toolCacheMegabytes: setting({
    name: 'ENVARIUM_TOOL_CACHE_MB',
    type: count(1, 10_000_000),
    default: '4096',
    sentence:
      'Most that fetched tools may take up; those that were not used for longest go first, those that a run has stay.',
  }),
  ...toolMirrors,
  workFolder: setting({
    name: 'ENVARIUM_WORK_DIR',
    type: path,
    sentence:
      'Below it every phase of a deployment sees its tree; must be the same on all agents that share deployments. Not set: below the data or spool folder, or below /var/lib/envarium where the users of runs could not get there.',
  }),
  providerCache: setting({
    name: 'ENVARIUM_PROVIDER_CACHE',
    type: flag,
    default: 'true',
    sentence:
      'Whether the agent keeps providers of terraform and OpenTofu for all its runs; false: every run fetches its own.',
  }),
  providerCacheFolder: setting({
    name: 'ENVARIUM_PROVIDER_CACHE_DIR',
    type: path,
    sentence:
      'Where the agent keeps providers; the users of runs must be able to read there. Not set: below the work folder.',
  }),
  providerCacheMegabytes: setting({
    name: 'ENVARIUM_PROVIDER_CACHE_MB',
    type: count(1, 10_000_000),
    default: '20480',
    sentence:
      'Above this size, unpacked, providers that no run can be using are removed from the cache, the longest unused first.',
  }),
  providerMirror: setting({
    name: 'ENVARIUM_PROVIDER_MIRROR',
    type: folderOrAddress,
    sentence:
      'Where runs get providers instead of from their registries: a folder (as "terraform providers mirror" makes it) or the address of a network mirror.',
  }),
  terraformCliConfig: setting({
    name: 'ENVARIUM_TERRAFORM_CLI_CONFIG',
    type: secretText,
    orFile: true,
    sentence:
      'CLI configuration (.terraformrc) of the terraform and tofu of every run: provider_installation, host and credentials blocks. Its credentials are masked in logs, but every run can read them.',
  }),
  caFile: setting({
    name: 'ENVARIUM_CA_FILE',
    type: path,
    sentence:
      'File with certificates (PEM) of authorities that are trusted beside those of the machine: by the program itself, git and tools.',
  }),
  concurrency: setting({
    name: 'ENVARIUM_AGENT_CONCURRENCY',
    type: count(1, 64),
    default: '2',
    sentence: 'How many deployments one agent runs at the same time.',
  }),
  slotUidBase: setting({
    name: 'ENVARIUM_SLOT_UID_BASE',
    type: count(1000, 2_000_000_000),
    default: '58000',
    sentence:
      'First of the user ids that runs get when the agent is started as root; nobody else may use them.',
  }),
  slotUidCount: setting({
    name: 'ENVARIUM_SLOT_UID_COUNT',
    type: count(1, 65_536),
    default: '1000',
    sentence: 'How many user ids, from the first on, runs may use.',
  }),
  logLevel: setting({
    name: 'ENVARIUM_LOG_LEVEL',
    type: oneWord(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    sentence: 'The least severe messages that are logged.',
  }),
} satisfies SettingTable;
