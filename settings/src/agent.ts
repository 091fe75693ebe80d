/** Settings of an agent. */
import { type SettingTable, setting } from './declaration.ts';
import { sharedSettings } from './server-and-agent.ts';
import { count, flag, path, secretText, text, webAddresses } from './types.ts';

export const agentSettings = {
  serverUrls: setting({
    name: 'ENVARIUM_URL',
    type: webAddresses,
    sentence:
      'Address of the service that the agent belongs to. If several are specified, the agent uses the first one, ' +
      'and the next one when that fails.',
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
    sentence: 'Folder that keeps the results of runs until the service has them.',
  }),
  drainSeconds: setting({
    name: 'ENVARIUM_AGENT_DRAIN_SECONDS',
    type: count(0, 86_400),
    default: '0',
    sentence:
      'How long an agent that is requested to end (SIGTERM) waits for its deployments, without beginning others. ' +
      'Whatever runs longer continues, and the next start of the agent takes it up.',
  }),
  endsWithStdin: setting({
    name: 'ENVARIUM_AGENT_ENDS_WITH_STDIN',
    type: flag,
    default: 'false',
    sentence:
      'Whether the agent stops when its standard input ends; set by a service for its built-in agent.',
  }),
  ...sharedSettings,
} satisfies SettingTable;
