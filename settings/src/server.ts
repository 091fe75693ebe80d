/** Settings of the server. */
import { type SettingTable, setting } from './declaration.ts';
import { notificationSettings } from './notifications.ts';
import { repositorySettings } from './repositories.ts';
import { sharedSettings } from './server-and-agent.ts';
import { limitSettings, tlsSettings } from './server-callers.ts';
import { signInSettings } from './sign-in.ts';
import {
  absolutePaths,
  count,
  databaseAddress,
  flag,
  hosts,
  knownHosts,
  longSecretText,
  networks,
  oneWord,
  origins,
  path,
  text,
  webAddress,
} from './types.ts';

const day = 86_400;

export const serverSettings = {
  host: setting({
    name: 'ENVARIUM_HOST',
    type: text,
    default: '127.0.0.1',
    sentence: 'Address to listen on.',
  }),
  port: setting({
    name: 'ENVARIUM_PORT',
    type: count(0, 65_535),
    default: '3000',
    sentence: 'Port to listen on; 0 selects a free port.',
  }),
  baseUrl: setting({
    name: 'ENVARIUM_BASE_URL',
    type: webAddress,
    sentence:
      'Address under which people and agents reach the service; may have a path, below which everything of the ' +
      'service then is. Required with ENVARIUM_OIDC_ISSUER, and behind a reverse proxy for links. Default: derived ' +
      'from host and port; the Host header of a request counts only if it names this machine.',
  }),
  webFolder: setting({
    name: 'ENVARIUM_WEB_DIR',
    type: path,
    sentence:
      'Folder of a built web interface, as `npm run bundle` writes it to dist/web. Default: built from the ' +
      'checkout when its sources have changed.',
  }),
  webProblem: setting({
    name: 'ENVARIUM_WEB_PROBLEM',
    type: text,
    sentence:
      'Why there is no web interface, shown in its place; set by the launcher where the build failed.',
  }),
  oidcKeyDays: setting({
    name: 'ENVARIUM_OIDC_KEY_DAYS',
    type: count(1, 3650),
    default: '30',
    sentence:
      'Days after which another key signs the OIDC tokens of runs. Old keys stay published until their tokens have expired.',
  }),
  stopDelaySeconds: setting({
    name: 'ENVARIUM_STOP_DELAY_SECONDS',
    type: count(0, 300),
    default: '0',
    sentence:
      'Time for which a stopping server (SIGTERM) continues to answer requests while /readyz answers 503, ' +
      'so that a load balancer sends no further ones to it.',
  }),
  trustedProxies: setting({
    name: 'ENVARIUM_TRUSTED_PROXIES',
    type: networks,
    default: '',
    sentence:
      'Reverse proxies in front of the service whose headers x-forwarded-for and x-forwarded-proto are trusted. ' +
      'Without it, all their callers share one address and its limits. Where several follow each other, list ' +
      'all of them.',
  }),
  ...tlsSettings,
  dataFolder: setting({
    name: 'ENVARIUM_DATA_DIR',
    type: path,
    default: './data',
    sentence: 'Folder for all data of the service.',
  }),
  blobFolder: setting({
    name: 'ENVARIUM_BLOB_DIR',
    type: path,
    sentence:
      'Folder for states and for large plans that wait for approval, encrypted. All servers of one database ' +
      'must use the same folder. Default: blobs in the data folder.',
  }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    type: databaseAddress,
    sentence: 'PostgreSQL 15 or later to use. Default: an embedded PostgreSQL in the data folder.',
  }),
  databaseUid: setting({
    name: 'ENVARIUM_DATABASE_UID',
    type: count(1, 2_000_000_000),
    sentence:
      'User id that the embedded PostgreSQL runs as when the service is started as root; nothing else may ' +
      'use it, and it needs no account. Default: the first one after the user ids for runs.',
  }),
  bootstrapApiKey: setting({
    name: 'ENVARIUM_BOOTSTRAP_API_KEY',
    type: text,
    orFile: true,
    sentence:
      'Id of the first administrator key, created if the installation has no key yet; requires the ' +
      'secret, too.',
  }),
  bootstrapApiSecret: setting({
    name: 'ENVARIUM_BOOTSTRAP_API_SECRET',
    type: longSecretText,
    orFile: true,
    sentence: 'Secret of the first administrator key, such as `openssl rand -hex 32`; requires the id, too.',
  }),
  sealingKeyFile: setting({
    name: 'ENVARIUM_SEALING_KEY_FILE',
    type: path,
    sentence: 'File with the keys that encrypt secrets and states. Default: sealing.key in the data folder.',
  }),
  allowedOrigins: setting({
    name: 'ENVARIUM_ALLOWED_ORIGINS',
    type: origins,
    default: '',
    sentence:
      'Origins of web pages that may make changes in addition to those of the service itself; browsers of ' +
      'all others are refused.',
  }),
  ...signInSettings,
  ...notificationSettings,
  ...repositorySettings,
  gitHttpHosts: setting({
    name: 'ENVARIUM_GIT_HTTP_HOSTS',
    type: hosts,
    default: '',
    sentence: 'Hosts from which repositories may be cloned over plain http.',
  }),
  unreviewedCodeTokens: setting({
    name: 'ENVARIUM_UNREVIEWED_CODE_TOKENS',
    type: oneWord(['all', 'none']),
    default: 'all',
    sentence:
      'Tokens for plans of code that no one has reviewed (deployments of type prPlan and remotePlan). With ' +
      'none, the credentials of the repository are used only to clone it, and such plans have no git or ' +
      'registry token of the organization, no ENVARIUM_VCS_ACCESS_TOKEN and no ssh key for other hosts.',
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
      'Public host keys of ssh servers for repositories and modules, as printed by ssh-keyscan; other ' +
      'hosts are refused. The keys of github.com, gitlab.com, bitbucket.org and ssh.dev.azure.com are ' +
      'known unless a line names that host.',
  }),
  ...sharedSettings,
  builtInAgent: setting({
    name: 'ENVARIUM_BUILT_IN_AGENT',
    type: flag,
    default: 'true',
    sentence: 'Whether the service starts its built-in agent.',
  }),
  teamsListForm: setting({
    name: 'ENVARIUM_TEAMS_LIST_FORM',
    type: oneWord(['auto', 'array', 'object']),
    default: 'auto',
    sentence:
      'Form of the list of teams: an array with the key of the next page in headers, an object {teams, nextPageKey}, ' +
      'or (auto) the object for callers whose User-Agent names a Terraform provider, and the array for all others.',
  }),
  unknownFields: setting({
    name: 'ENVARIUM_UNKNOWN_FIELDS',
    type: oneWord(['refuse', 'ignore']),
    default: 'refuse',
    sentence:
      'What to do with unknown fields of a request body. Ignored fields are listed in the header ' +
      'x-envarium-ignored-fields.',
  }),
  ...limitSettings,
  connectionLimit: setting({
    name: 'ENVARIUM_CONNECTION_LIMIT',
    type: count(10, 1_000_000),
    default: '4000',
    sentence: 'Maximum number of open connections to the service; further ones are closed.',
  }),
  streamLimit: setting({
    name: 'ENVARIUM_STREAM_LIMIT',
    type: count(1, 1_000_000),
    default: '2000',
    sentence: 'Maximum number of open event streams of one server.',
  }),
  userStreamLimit: setting({
    name: 'ENVARIUM_USER_STREAM_LIMIT',
    type: count(1, 1_000_000),
    default: '100',
    sentence: 'Maximum number of open event streams of one user, whichever keys open them.',
  }),
  bodyIdleSeconds: setting({
    name: 'ENVARIUM_BODY_IDLE_SECONDS',
    type: count(1, 3600),
    default: '30',
    sentence:
      'Time without a byte after which an incomplete body is discarded; bodies other than uploads must arrive ' +
      'completely within four times this.',
  }),
  runTimeLimitSeconds: setting({
    name: 'ENVARIUM_RUN_TIME_LIMIT_SECONDS',
    type: count(1, 30 * day),
    default: '18000',
    sentence: 'Maximum duration of one phase of a deployment.',
  }),
  taskTimeLimitSeconds: setting({
    name: 'ENVARIUM_TASK_TIME_LIMIT_SECONDS',
    type: count(1, 30 * day),
    default: '1800',
    sentence: 'Maximum duration of a task, including its clone and init.',
  }),
  opaProgram: setting({
    name: 'ENVARIUM_OPA',
    type: path,
    sentence: 'The program opa, which evaluates approval policies. Default: the first one on the PATH.',
  }),
  policyTimeLimitSeconds: setting({
    name: 'ENVARIUM_POLICY_TIME_LIMIT_SECONDS',
    type: count(1, 30),
    default: '10',
    sentence: 'Maximum duration of the evaluation of one approval policy.',
  }),
  policyMemoryMegabytes: setting({
    name: 'ENVARIUM_POLICY_MEMORY_MB',
    type: count(64, 100_000),
    default: '512',
    sentence: 'Maximum memory of a process that evaluates an approval policy.',
  }),
  policyProcesses: setting({
    name: 'ENVARIUM_POLICY_PROCESSES',
    type: count(1, 1000),
    default: '24',
    sentence:
      'How many processes with compiled approval policies are kept ready at once, each of about 80 MB and more with ' +
      'large plans; a process ends after five minutes without use.',
  }),
  sourceLimitMegabytes: setting({
    name: 'ENVARIUM_SOURCE_LIMIT_MB',
    type: count(1, 100_000),
    default: '100',
    sentence:
      'Maximum size of a code archive uploaded for a remote plan, compressed. Those of an environment that have not expired: 20 times as much together.',
  }),
  abortSeconds: setting({
    name: 'ENVARIUM_ABORT_SECONDS',
    type: count(1, day),
    default: '60',
    sentence: 'Time between interrupting a tool and killing it.',
  }),
  offlineGraceSeconds: setting({
    name: 'ENVARIUM_OFFLINE_GRACE_SECONDS',
    type: count(1, 7 * day),
    default: '600',
    sentence: 'How long a run continues without contact to the service before it interrupts its tool.',
  }),
  backgroundSlotsPercent: setting({
    name: 'ENVARIUM_BACKGROUND_SLOTS_PERCENT',
    type: count(1, 100),
    default: '50',
    sentence:
      'Share of the slots of an agent process that drift detections and tests of modules may take at the same time, in percent; one slot at least.',
  }),
  heartbeatSeconds: setting({
    name: 'ENVARIUM_HEARTBEAT_SECONDS',
    type: count(1, 60),
    default: '2',
    sentence:
      'Time between two heartbeats of an agent; also the maximum delay until a run receives an abort. An agent ' +
      'counts as unreachable 5 s after the third heartbeat that is missing, and after 20 s at the earliest.',
  }),
  approvalWaitDays: setting({
    name: 'ENVARIUM_APPROVAL_WAIT_DAYS',
    type: count(1, 3650),
    default: '30',
    sentence: 'How long a deployment waits for approval before it ends with TIMEOUT.',
  }),
  travelLimitMegabytes: setting({
    name: 'ENVARIUM_TRAVEL_LIMIT_MB',
    type: count(1, 1_000_000),
    default: '1024',
    sentence: 'Maximum size of the files kept between plan and apply while a person decides.',
  }),
  stateLimitMegabytes: setting({
    name: 'ENVARIUM_STATE_LIMIT_MB',
    type: count(1, 2048),
    default: '256',
    sentence: 'Maximum size of a state, whether it is stored by a run, a person, or a tool outside of runs.',
  }),
  rescuedStatesLimitMegabytes: setting({
    name: 'ENVARIUM_RESCUED_STATES_LIMIT_MB',
    type: count(1, 1_000_000),
    default: '2048',
    sentence:
      "Maximum size of all rescued versions of an environment's state together; each counts as at least " +
      '1 MB. Further ones are refused: an agent keeps them on its host.',
  }),
  stateVersionsKept: setting({
    name: 'ENVARIUM_STATE_VERSIONS_KEPT',
    type: count(10, 1_000_000),
    default: '100',
    sentence:
      "Number of versions of an environment's state, other than rescued ones, that are always kept, whatever " +
      'their age.',
  }),
  stateVersionDays: setting({
    name: 'ENVARIUM_STATE_VERSION_DAYS',
    type: count(0, 100_000),
    default: '365',
    sentence:
      'Days after which superseded versions of a state are removed, except for the number that is always ' +
      'kept; 0 keeps all of them.',
  }),
  stepLogLimitMegabytes: setting({
    name: 'ENVARIUM_STEP_LOG_LIMIT_MB',
    type: count(1, 1_000_000),
    default: '100',
    sentence:
      "Maximum size of a step's log that is kept completely; of a longer log, the beginning and the end " +
      'are kept.',
  }),
} satisfies SettingTable;
