/** Settings of an agent as files, for those who start it: everything but its secret. */
import { stringify } from 'yaml';
import { agentSettings } from '#settings/agent.ts';

const { serverUrls, agentKey, agentSecret, spoolFolder, workFolder, isolation } = agentSettings;

const secretFileName = `${agentSecret.name}_FILE`;

/** Of an agent alone on its machine or in its container. */
const dataFolder = '/var/lib/envarium-agent';

function settingsOf(url: string, key: string): Record<string, string> {
  return {
    [serverUrls.name]: url,
    [agentKey.name]: key,
    [spoolFolder.name]: `${dataFolder}/spool`,
    [workFolder.name]: `${dataFolder}/work`,
  };
}

const toSecret =
  'Create the secret with "envarium agent secret" or on the page of agents: it is shown only once.';

/** Lines of NAME=value. @param url of this service @param key of the agent */
export function environmentFile(url: string, key: string): string {
  const settings = { ...settingsOf(url, key), [isolation.name]: 'required' };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return [
    ...lines,
    `# ${toSecret}`,
    `# Set ${secretFileName} to a file that only the agent can read, or ${agentSecret.name} to the secret.`,
    `# ${secretFileName}=/etc/envarium/agent.secret`,
    '',
  ].join('\n');
}

/** Values of a Helm chart: a container with these variables, and a volume. @param url as above @param key as above */
export function helmValues(url: string, key: string): string {
  const values = {
    agentKey: key,
    agentAccessToken: '',
    env: { ...settingsOf(url, key), [secretFileName]: '/run/secrets/envarium/agent-secret' },
    // A second process on the same folder would replace the first.
    replicas: 1,
    terminationGracePeriodSeconds: 30,
    persistence: { mountPath: dataFolder, size: '20Gi' },
  };
  return [
    `# ${toSecret}`,
    `# Store it as agentAccessToken in a file of values of its own, and mount it at the path in ${secretFileName}.`,
    stringify(values),
  ].join('\n');
}
