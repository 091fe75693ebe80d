/** Settings of the command line. */
import { type SettingTable, setting } from './declaration.ts';
import { sharedSettings } from './server-and-agent.ts';
import { path, secretText, text, webAddress } from './types.ts';

/**
 * The command line imports the contract only and reads these names itself; here they count as declared and
 * get documented.
 */
export const cliSettings = {
  apiKey: setting({
    name: 'ENVARIUM_API_KEY',
    type: text,
    sentence: 'Id of the API key that commands use.',
  }),
  apiSecret: setting({ name: 'ENVARIUM_API_SECRET', type: secretText, sentence: 'Secret of that key.' }),
  caFile: sharedSettings.caFile,
  apiUrl: setting({
    name: 'ENVARIUM_API_URL',
    type: webAddress,
    sentence: 'Address of the service that commands use.',
  }),
  configFile: setting({
    name: 'ENVARIUM_CONFIG_FILE',
    type: path,
    sentence: 'File in which `envarium login` stores address and key.',
  }),
  organizationId: setting({
    name: 'ENVARIUM_ORGANIZATION_ID',
    type: text,
    sentence: 'Organization that commands use if the key has access to several.',
  }),
} satisfies SettingTable;
