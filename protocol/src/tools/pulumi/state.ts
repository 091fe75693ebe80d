/** The state of a stack of Pulumi, as `pulumi stack export` prints it, with a serial and a lineage of ours. */
import { isRecord } from '#contract/schema/is-record.ts';
import { isText, jsonState } from '../states/json-state.ts';
import type { StateFacts, StateFormat } from '../tool.ts';

/** Of what Pulumi exports; older ones were written before 2019. */
export const deploymentVersion = 3;

interface PulumiStateFile {
  readonly version?: unknown;
  readonly serial?: unknown;
  readonly lineage?: unknown;
  readonly deployment?: unknown;
}

/** Whether a resource is one that the code declares: neither the stack itself nor the settings of a provider. */
export function isManagedType(type: string): boolean {
  return type !== 'pulumi:pulumi:Stack' && !type.startsWith('pulumi:providers:');
}

/** The key and the value by which Pulumi marks an object as something else, and its value for secrets. */
const [markKey, secretMark] = ['4dabf18193072939515e22adb298388d', '1b47061264138c4ac30d75fd1eb44270'];

/** Whether a value is something other than an object, such as a file, which Pulumi writes as one. */
export function isMarkedValue(value: unknown): boolean {
  return isRecord(value) && Object.hasOwn(value, markKey);
}

/** Whether a value is one of Pulumi's secrets, encrypted or masked. */
export function isSecretValue(value: unknown): boolean {
  return isRecord(value) && value[markKey] === secretMark;
}

/** Whether a value contains a secret. */
export function hasSecret(value: unknown): boolean {
  if (isSecretValue(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasSecret);
}

function resourcesProblem(resources: unknown): string | null {
  if (resources === undefined) return null;
  if (!Array.isArray(resources)) return 'deployment.resources must be a list';
  for (const [index, resource] of resources.entries() as Iterable<[number, unknown]>)
    if (!isRecord(resource) || !isText(resource['urn']) || !isText(resource['type']))
      return `deployment.resources[${index}] must be an object with urn and type`;
  return null;
}

function problemOf(file: unknown): string | null {
  if (!isRecord(file)) return 'it is not a JSON object';
  const { version, serial, lineage, deployment } = file as PulumiStateFile;
  if (version !== deploymentVersion || !isRecord(deployment))
    return `it is not an export of a stack of version ${deploymentVersion} with a deployment`;
  if (!Number.isSafeInteger(serial) || (serial as number) < 0)
    return 'serial must be a whole number of 0 or more: add "serial": 0 to what "pulumi stack export" has written';
  if (!isText(lineage)) return 'lineage must be a non-empty string: add "lineage" next to the serial';
  return resourcesProblem(deployment['resources']);
}

function factsOf(file: PulumiStateFile): StateFacts {
  const { manifest, resources = [] } = file.deployment as {
    readonly manifest?: unknown;
    readonly resources?: readonly { readonly type: string }[];
  };
  const version = isRecord(manifest) ? manifest['version'] : undefined;
  return {
    serial: file.serial as number,
    lineage: file.lineage as string,
    resourceCount: resources.filter(({ type }) => isManagedType(type)).length,
    toolVersion: isText(version) ? version.replace(/^v/, '') : null,
  };
}

/** The file, its deployment, the resources, a resource: what is in these can be large. */
const levels = 4;

export const pulumiState: StateFormat = jsonState({ mark: 'deployment', levels, problemOf, factsOf });
