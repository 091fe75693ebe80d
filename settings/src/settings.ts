/** Every setting of every program, once. docs/settings.md and .env.example are written from these tables. */
import {
  type Environment,
  namesOf,
  readTable,
  type Setting,
  type SettingTable,
  setting,
  type ValuesOf,
} from './declaration.ts';
import {
  absolutePaths,
  count,
  databaseAddress,
  flag,
  folderOrAddress,
  hosts,
  knownHosts,
  networks,
  oneWord,
  path,
  secretText,
  text,
  webAddress,
} from './types.ts';
import { toolMirrors } from './tool-mirrors.ts';

export { SettingsError } from './declaration.ts';

const day = 86_400;

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

export const serverSettings = {
  host: setting({
    name: 'ENVARIUM_HOST',
    type: text,
    default: '127.0.0.1',
    sentence: 'Address that the service listens on.',
  }),
  port: setting({
    name: 'ENVARIUM_PORT',
    type: count(0, 65_535),
    default: '3000',
    sentence: 'Port that the service listens on; 0: a free one.',
  }),
  baseUrl: setting({
    name: 'ENVARIUM_BASE_URL',
    type: webAddress,
    sentence: 'Address under which people and agents reach the service; not set: made from host and port.',
  }),
  trustedProxies: setting({
    name: 'ENVARIUM_TRUSTED_PROXIES',
    type: networks,
    default: '',
    sentence:
      'Reverse proxies in front of the service, whose header x-forwarded-for says who calls; without it all their callers share one rate limit.',
  }),
  dataFolder: setting({
    name: 'ENVARIUM_DATA_DIR',
    type: path,
    default: './data',
    sentence: 'Folder for everything that the service keeps.',
  }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    type: databaseAddress,
    sentence: 'PostgreSQL 15 or later to use; not set: an embedded PostgreSQL in the data folder.',
  }),
  bootstrapApiKey: setting({
    name: 'ENVARIUM_BOOTSTRAP_API_KEY',
    type: text,
    orFile: true,
    sentence: 'Id of the first admin key, made when the installation has none; needs the secret too.',
  }),
  bootstrapApiSecret: setting({
    name: 'ENVARIUM_BOOTSTRAP_API_SECRET',
    type: secretText,
    orFile: true,
    sentence: 'Secret of the first admin key; needs the id too.',
  }),
  sealingKeyFile: setting({
    name: 'ENVARIUM_SEALING_KEY_FILE',
    type: path,
    sentence:
      'File with the keys that secrets and states are sealed with; not set: sealing.key in the data folder.',
  }),
  gitHttpHosts: setting({
    name: 'ENVARIUM_GIT_HTTP_HOSTS',
    type: hosts,
    default: '',
    sentence: 'Hosts from which repositories may be cloned over plain http.',
  }),
  gitLocalPaths: setting({
    name: 'ENVARIUM_GIT_LOCAL_PATHS',
    type: absolutePaths,
    default: '',
    sentence: 'Folders from which local repositories may be cloned.',
  }),
  gitKnownHosts: setting({
    name: 'ENVARIUM_GIT_KNOWN_HOSTS',
    type: knownHosts,
    default: '',
    orFile: true,
    sentence:
      'Public host keys of ssh servers that repositories and modules are read from, as ssh-keyscan prints them; a host that is not named is refused. The keys of github.com, gitlab.com, bitbucket.org and ssh.dev.azure.com are known unless a line names that host.',
  }),
  ...sharedSettings,
  builtInAgent: setting({
    name: 'ENVARIUM_BUILT_IN_AGENT',
    type: flag,
    default: 'true',
    sentence: 'Whether the service starts an agent beside itself.',
  }),
  unknownFields: setting({
    name: 'ENVARIUM_UNKNOWN_FIELDS',
    type: oneWord(['refuse', 'ignore']),
    default: 'refuse',
    sentence:
      'What happens to fields of a request body that no operation knows; ignored ones are listed in the header x-envarium-ignored-fields.',
  }),
  rateLimit: setting({
    name: 'ENVARIUM_RATE_LIMIT',
    type: count(0, 1_000_000_000),
    default: '1000',
    sentence: 'Requests per caller in 60 seconds; 0: no limit.',
  }),
  runTimeLimitSeconds: setting({
    name: 'ENVARIUM_RUN_TIME_LIMIT_SECONDS',
    type: count(1, 30 * day),
    default: '18000',
    sentence: 'Longest time that one phase of a deployment may take.',
  }),
  taskTimeLimitSeconds: setting({
    name: 'ENVARIUM_TASK_TIME_LIMIT_SECONDS',
    type: count(1, 30 * day),
    default: '1800',
    sentence: 'Longest time that a task may take, its clone and init included.',
  }),
  sourceLimitMegabytes: setting({
    name: 'ENVARIUM_SOURCE_LIMIT_MB',
    type: count(1, 100_000),
    default: '100',
    sentence: 'Largest archive of code that may be uploaded for a remote plan, compressed.',
  }),
  abortSeconds: setting({
    name: 'ENVARIUM_ABORT_SECONDS',
    type: count(1, day),
    default: '60',
    sentence: 'Time from the interrupt of a tool to its kill.',
  }),
  offlineGraceSeconds: setting({
    name: 'ENVARIUM_OFFLINE_GRACE_SECONDS',
    type: count(1, 7 * day),
    default: '600',
    sentence: 'How long a run goes on without contact to the service before it interrupts its tool.',
  }),
  heartbeatSeconds: setting({
    name: 'ENVARIUM_HEARTBEAT_SECONDS',
    type: count(1, 60),
    default: '2',
    sentence:
      'Time between two signs of life of an agent; also the longest time until a run hears of an abort.',
  }),
  approvalWaitDays: setting({
    name: 'ENVARIUM_APPROVAL_WAIT_DAYS',
    type: count(1, 3650),
    default: '30',
    sentence: 'How long a deployment waits for an approval before it ends as TIMEOUT.',
  }),
  travelLimitMegabytes: setting({
    name: 'ENVARIUM_TRAVEL_LIMIT_MB',
    type: count(1, 1_000_000),
    default: '1024',
    sentence: 'Largest tree that is kept from plan to apply while a person decides.',
  }),
  stateLimitMegabytes: setting({
    name: 'ENVARIUM_STATE_LIMIT_MB',
    type: count(1, 2048),
    default: '256',
    sentence: 'Largest state that a person imports or a tool outside of runs stores over http.',
  }),
  stepLogLimitMegabytes: setting({
    name: 'ENVARIUM_STEP_LOG_LIMIT_MB',
    type: count(1, 1_000_000),
    default: '1024',
    sentence: 'Log of one step that is kept whole; of a longer one head and tail are kept.',
  }),
} satisfies SettingTable;

export const agentSettings = {
  serverUrl: setting({
    name: 'ENVARIUM_URL',
    type: webAddress,
    sentence: 'Address of the service that the agent works for.',
  }),
  agentKey: setting({ name: 'ENVARIUM_AGENT_KEY', type: text, sentence: "Id of the agent's key." }),
  agentSecret: setting({
    name: 'ENVARIUM_AGENT_SECRET',
    type: secretText,
    orFile: true,
    sentence: "Secret of the agent's key.",
  }),
  spoolFolder: setting({
    name: 'ENVARIUM_SPOOL_DIR',
    type: path,
    default: './spool',
    sentence: 'Folder that keeps what runs produce until the service has it.',
  }),
  endsWithStdin: setting({
    name: 'ENVARIUM_AGENT_ENDS_WITH_STDIN',
    type: flag,
    default: 'false',
    sentence:
      'The agent says goodbye when its standard input ends; set by a service for the agent beside it.',
  }),
  ...sharedSettings,
} satisfies SettingTable;

/**
 * The command line imports the contract only and reads these names itself; here they count as declared and
 * get documented.
 */
export const cliSettings = {
  apiKey: setting({
    name: 'ENVARIUM_API_KEY',
    type: text,
    sentence: 'Id of the key that commands are sent with.',
  }),
  apiSecret: setting({ name: 'ENVARIUM_API_SECRET', type: secretText, sentence: 'Secret of that key.' }),
  caFile: sharedSettings.caFile,
  apiUrl: setting({
    name: 'ENVARIUM_API_URL',
    type: webAddress,
    sentence: 'Address of the service that commands are sent to.',
  }),
  configFile: setting({
    name: 'ENVARIUM_CONFIG_FILE',
    type: path,
    sentence: 'File in which `envarium login` keeps address and key.',
  }),
  organizationId: setting({
    name: 'ENVARIUM_ORGANIZATION_ID',
    type: text,
    sentence: 'Organization that commands speak of, where the key can see several.',
  }),
} satisfies SettingTable;

export type ServerSettings = ValuesOf<typeof serverSettings>;
export type AgentSettings = ValuesOf<typeof agentSettings>;

const programs: Readonly<Record<'server' | 'agent' | 'cli', SettingTable>> = {
  server: serverSettings,
  agent: agentSettings,
  cli: cliSettings,
};

/** The name of every setting of every program, with `…_FILE` where a file may hold the value. */
export const declaredNames: ReadonlySet<string> = new Set(
  Object.values(programs).flatMap((table) => Object.values(table).flatMap(namesOf)),
);

/**
 * Reads one program's settings.
 * @throws SettingsError naming each `ENVARIUM_` name that no program declares and each malformed value
 */
export function readProgramSettings<Table extends SettingTable>(
  table: Table,
  environment: Environment,
): ValuesOf<Table> {
  return readTable(table, environment, declaredNames);
}

/** Each setting once, with the programs that read it. */
function settingsAndReaders(): { one: Setting; readers: string[] }[] {
  const found = new Map<string, { one: Setting; readers: string[] }>();
  for (const [program, table] of Object.entries(programs)) {
    for (const one of Object.values(table)) {
      const entry = found.get(one.name) ?? { one, readers: [] };
      entry.readers.push(program);
      found.set(one.name, entry);
    }
  }
  return [...found.values()];
}

/** The page docs/settings.md. */
export function settingsPage(): string {
  const rows = settingsAndReaders().map(({ one, readers }) => {
    const names = namesOf(one)
      .map((name) => `\`${name}\``)
      .join(' or ');
    const value = one.default ? `\`${one.default}\`` : '';
    return `| ${names} | ${readers.join(', ')} | ${one.type.allowed} | ${value} | ${one.sentence} |`;
  });
  return [
    '# Settings',
    '',
    'Given by the environment. An empty value counts as not set. A malformed value, or a name that begins with `ENVARIUM_` and is not listed here, stops the start with a message that names it.',
    'A name that ends in `_FILE` names a file that holds the value.',
    '',
    '| Name | Read by | Value | Default | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The file .env.example: every setting, commented out, with its default. */
export function envExample(): string {
  const blocks = settingsAndReaders().map(
    ({ one, readers }) =>
      `# ${one.sentence}\n# Read by: ${readers.join(', ')}. Value: ${one.type.allowed}.\n${namesOf(one)
        .map((name, index) => `# ${name}=${index === 0 ? (one.default ?? '') : ''}`)
        .join('\n')}\n`,
  );
  return blocks.join('\n');
}
