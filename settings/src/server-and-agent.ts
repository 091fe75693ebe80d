/** Settings that the server hands to the agent it starts, and that other agents read themselves. */
import { type SettingTable, setting } from './declaration.ts';
import { secretStoreSettings } from './secret-stores.ts';
import { toolMirrors } from './tool-mirrors.ts';
import {
  absolutePaths,
  count,
  flag,
  folderOrAddress,
  hosts,
  oneWord,
  orWord,
  path,
  secretText,
  webAddress,
} from './types.ts';

/** Read by the server, which passes them on to its built-in agent, and by agents elsewhere. */
export const sharedSettings = {
  toolCacheFolder: setting({
    name: 'ENVARIUM_TOOL_CACHE_DIR',
    type: path,
    sentence:
      'Folder for downloaded tools; the users of runs must be able to read it. Default: below the data ' +
      'folder or the work folder.',
  }),
  toolCacheMegabytes: setting({
    name: 'ENVARIUM_TOOL_CACHE_MB',
    type: count(1, 10_000_000),
    default: '4096',
    sentence:
      'Maximum size of all downloaded tools. The least recently used are removed first; those in use by ' +
      'a run are kept.',
  }),
  ...toolMirrors,
  workFolder: setting({
    name: 'ENVARIUM_WORK_DIR',
    type: path,
    sentence:
      'Folder in which every phase of a deployment sees its files; must be the same on all agents that ' +
      'share deployments. Default: below the data or spool folder, or below /var/lib/envarium if the ' +
      'users of runs cannot access that.',
  }),
  providerCache: setting({
    name: 'ENVARIUM_PROVIDER_CACHE',
    type: flag,
    default: 'true',
    sentence:
      'Whether the agent caches providers of terraform and OpenTofu for all its runs. If false, every ' +
      'run downloads its own.',
  }),
  providerCacheFolder: setting({
    name: 'ENVARIUM_PROVIDER_CACHE_DIR',
    type: path,
    sentence:
      'Folder for cached providers; the users of runs must be able to read it. Default: below the work ' +
      'folder.',
  }),
  providerCacheMegabytes: setting({
    name: 'ENVARIUM_PROVIDER_CACHE_MB',
    type: count(1, 10_000_000),
    default: '20480',
    sentence:
      'Maximum size of the provider cache, unpacked. Above it, the least recently used providers are ' +
      'removed, except those that a run may be using.',
  }),
  reuseInit: setting({
    name: 'ENVARIUM_REUSE_INIT',
    type: flag,
    default: 'true',
    sentence:
      'Whether a run uses the result of an earlier "init" of terraform or OpenTofu if code, tool, lock file and ' +
      'settings are the same. A run with an environment variable of this name and the value false runs it again.',
  }),
  credentialPrivateHosts: setting({
    name: 'ENVARIUM_CREDENTIAL_PRIVATE_HOSTS',
    type: hosts,
    default: '',
    sentence:
      'Hosts that credentials may name (of Vault, of Kubernetes, of Google Cloud for its tokens) although they have ' +
      'private addresses or use plain http.',
  }),
  awsOwnIdentity: setting({
    name: 'ENVARIUM_AWS_OWN_IDENTITY',
    type: flag,
    default: 'false',
    sentence:
      'Whether credentials with a role of AWS and without access keys assume it by the identity of the agent itself ' +
      '(its instance profile, service account or AWS_... variables). Trust policies must then require the id of the ' +
      'organization as external id.',
  }),
  kubernetesOwnIdentity: setting({
    name: 'ENVARIUM_KUBERNETES_OWN_IDENTITY',
    type: flag,
    default: 'false',
    sentence:
      'Whether runs on a cluster that have no kubeconfig work on the cluster that the agent runs in, with the service ' +
      'account of its pod. Every user of the agent then has the rights of that account.',
  }),
  kubeconfigPrograms: setting({
    name: 'ENVARIUM_KUBECONFIG_PROGRAMS',
    type: flag,
    default: 'false',
    sentence:
      'Whether runs on a cluster may use kubeconfig files that start a program to log in (exec, auth-provider). The ' +
      'program must be on the machine of the agent and runs with the rights of the run.',
  }),
  azureManagementAddress: setting({
    name: 'ENVARIUM_AZURE_MANAGEMENT_ADDRESS',
    type: webAddress,
    default: 'https://management.azure.com',
    sentence: 'Address of Azure Resource Manager, which agents ask for AKS clusters that credentials name.',
  }),
  gkeAddress: setting({
    name: 'ENVARIUM_GKE_ADDRESS',
    type: webAddress,
    default: 'https://container.googleapis.com',
    sentence: 'Address of the Google Kubernetes Engine, which agents ask for clusters that credentials name.',
  }),
  registryPrivateHosts: setting({
    name: 'ENVARIUM_REGISTRY_PRIVATE_HOSTS',
    type: hosts,
    default: '',
    sentence:
      'Hosts of registries and their files that the agent may reach at private addresses or over plain http ' +
      'when code names them. Those in ENVARIUM_TERRAFORM_CLI_CONFIG, ENVARIUM_PROVIDER_MIRROR and registry ' +
      'tokens do not need to be listed.',
  }),
  providerMirror: setting({
    name: 'ENVARIUM_PROVIDER_MIRROR',
    type: folderOrAddress,
    sentence:
      'Where runs get providers instead of from their registries: a folder created by "terraform ' +
      'providers mirror", or the address of a network mirror.',
  }),
  terraformCliConfig: setting({
    name: 'ENVARIUM_TERRAFORM_CLI_CONFIG',
    type: secretText,
    orFile: true,
    sentence:
      'CLI configuration (.terraformrc) for terraform and tofu in every run: provider_installation, ' +
      'host and credentials blocks. Its credentials are masked in logs; the agent uses them for the runs, ' +
      'which do not have them, except for hosts of states and of network mirrors.',
  }),
  infracostApiKey: setting({
    name: 'ENVARIUM_INFRACOST_API_KEY',
    type: secretText,
    orFile: true,
    sentence:
      'Key for the pricing service of Infracost, for runs of projects whose policy includes cost estimation. A run ' +
      'with the environment variable INFRACOST_API_KEY uses that instead.',
  }),
  infracostEndpoint: setting({
    name: 'ENVARIUM_INFRACOST_PRICING_ENDPOINT',
    type: webAddress,
    sentence:
      'Address of a pricing service for Infracost of your own. A run with the environment variable ' +
      'INFRACOST_PRICING_API_ENDPOINT uses that instead, and does not get the key of the setting above. ' +
      'Default: that of Infracost.',
  }),
  infracostSeconds: setting({
    name: 'ENVARIUM_INFRACOST_TIME_LIMIT_SECONDS',
    type: count(1, 3600),
    default: '60',
    sentence: 'How long the estimation of costs may take; afterwards the run continues without it.',
  }),
  caFile: setting({
    name: 'ENVARIUM_CA_FILE',
    type: path,
    sentence:
      'File with certificates (PEM) of authorities to trust in addition to those of the machine: by the ' +
      'program itself, git and tools.',
  }),
  concurrency: setting({
    name: 'ENVARIUM_AGENT_CONCURRENCY',
    type: orWord('auto', count(1, 64)),
    default: '2',
    sentence:
      'Maximum number of deployments that an agent runs at the same time; auto: two for each processor, as far as the ' +
      'memory suffices.',
  }),
  memoryPerRunMegabytes: setting({
    name: 'ENVARIUM_AGENT_RUN_MEMORY_MB',
    type: count(0, 1_000_000),
    default: '256',
    sentence:
      'Memory that must be available before an agent begins another deployment while it runs others; 0: it does not ' +
      'look.',
  }),
  slotUidBase: setting({
    name: 'ENVARIUM_SLOT_UID_BASE',
    type: count(1000, 2_000_000_000),
    default: '58000',
    sentence:
      'First of the user ids assigned to runs when the agent is started as root; nothing else may use ' +
      'them.',
  }),
  slotUidCount: setting({
    name: 'ENVARIUM_SLOT_UID_COUNT',
    type: count(1, 65_536),
    default: '1000',
    sentence: 'Number of user ids for runs, starting with the first.',
  }),
  runProcessLimit: setting({
    name: 'ENVARIUM_RUN_PROCESS_LIMIT',
    type: count(64, 1_000_000),
    default: '2048',
    sentence: 'Maximum number of processes and threads of a run.',
  }),
  runMemoryLimitMegabytes: setting({
    name: 'ENVARIUM_RUN_MEMORY_LIMIT_MB',
    type: count(256, 100_000_000),
    default: '8192',
    sentence: 'Maximum memory of all processes of a run; above it, the run is stopped.',
  }),
  runDiskLimitMegabytes: setting({
    name: 'ENVARIUM_RUN_DISK_LIMIT_MB',
    type: count(64, 100_000_000),
    default: '20480',
    sentence:
      'Maximum size of the work folder of a run with its logs, plans and states in the spool folder; above it, the run is stopped.',
  }),
  runDiskReserveMegabytes: setting({
    name: 'ENVARIUM_RUN_DISK_RESERVE_MB',
    type: count(0, 100_000_000),
    default: '256',
    sentence:
      'Space that runs leave free on the file systems of the work and spool folders; with less, they are interrupted, and with less than half of it, killed.',
  }),
  runFileLimitMegabytes: setting({
    name: 'ENVARIUM_RUN_FILE_LIMIT_MB',
    type: count(64, 100_000_000),
    default: '20480',
    sentence: 'Maximum size of a file that a run writes.',
  }),
  keptFailures: setting({
    name: 'ENVARIUM_KEPT_FAILURES',
    type: count(0, 10_000),
    default: '20',
    sentence:
      'Maximum number of folders that an agent keeps of runs whose state may be incomplete, and of runs whose ' +
      'outcome the service did not accept; the oldest are removed.',
  }),
  keptFailureDays: setting({
    name: 'ENVARIUM_KEPT_FAILURE_DAYS',
    type: count(1, 36_500),
    default: '30',
    sentence: 'Days after which an agent removes such folders.',
  }),
  reportPatienceSeconds: setting({
    name: 'ENVARIUM_REPORT_PATIENCE_SECONDS',
    type: count(1, 30 * 86_400),
    default: '3600',
    sentence:
      'Time for which an agent repeats the outcome of a run that the service answers only with errors (not while ' +
      'it is unreachable). Then the agent keeps the folder of the run, and the deployment fails.',
  }),
  keptTrees: setting({
    name: 'ENVARIUM_KEPT_TREES',
    type: count(0, 1000),
    default: '20',
    sentence:
      'Maximum number of plans that wait for approval and whose files the agent keeps, so that their apply ' +
      'starts without a second init. They contain the variables of the environment. With 0, every apply after ' +
      'an approval restores its files from the service.',
  }),
  runOpenFileLimit: setting({
    name: 'ENVARIUM_RUN_OPEN_FILE_LIMIT',
    type: count(256, 1_000_000),
    default: '16384',
    sentence: 'Maximum number of open files of each process of a run.',
  }),
  isolation: setting({
    name: 'ENVARIUM_ISOLATION',
    type: oneWord(['auto', 'required', 'off']),
    default: 'auto',
    sentence:
      'Whether each command of a run gets namespaces of its own (bubblewrap). With auto, an agent that ' +
      'cannot provide them says so and runs without; with required, it does not start.',
  }),
  isolationPaths: setting({
    name: 'ENVARIUM_ISOLATION_PATHS',
    type: absolutePaths,
    default: '',
    sentence:
      'Folders and files that runs in namespaces can read, in addition to /usr, /etc, /opt and their own.',
  }),
  isolationNetwork: setting({
    name: 'ENVARIUM_ISOLATION_NETWORK',
    type: oneWord(['host', 'none']),
    default: 'host',
    sentence:
      'The network of runs in namespaces: that of the machine, or none except for commands that fetch ' +
      'code, modules and providers.',
  }),
  ...secretStoreSettings,
  runCgroup: setting({
    name: 'ENVARIUM_RUN_CGROUP',
    type: path,
    sentence:
      'Folder of a control group (cgroup v2) that is delegated to the agent. Each run gets a group of its own ' +
      'below it, which the kernel ends as a whole, and limits where the folder has the controllers. Default: ' +
      'runs have no groups.',
  }),
  logLevel: setting({
    name: 'ENVARIUM_LOG_LEVEL',
    type: oneWord(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    sentence: 'Minimum severity of messages to log.',
  }),
} satisfies SettingTable;
