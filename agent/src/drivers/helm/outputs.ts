/** Outputs of a deployed release. */
import type { OutputValue } from '#contract/deployments/plan.ts';
import { providerName } from '../cluster/changes.ts';
import { identityOf, parseObjects } from '../cluster/objects.ts';
import type { OutputsReading } from '../interface/driver.ts';

interface Status {
  readonly name?: string;
  readonly namespace?: string;
  readonly version?: number;
  readonly manifest?: string;
  readonly info?: { readonly status?: string; readonly notes?: string };
}

interface ReleaseMetadata {
  readonly chart?: string;
  readonly version?: string;
  readonly appVersion?: string;
}

function output(value: unknown): OutputValue {
  return { value, sensitive: false, type: typeof value };
}

function parsed<Value>(bytes: Uint8Array | undefined, command: string): Value {
  if (bytes === undefined || bytes.length === 0) throw new Error(`${command} printed nothing`);
  return JSON.parse(Buffer.from(bytes).toString()) as Value;
}

/**
 * @param statusBytes what `helm status` printed as JSON
 * @param metadataBytes what `helm get metadata` printed
 */
export function readStatus(
  statusBytes: Uint8Array | undefined,
  metadataBytes: Uint8Array | undefined,
): OutputsReading {
  const status = parsed<Status>(statusBytes, 'helm status');
  const { chart, version, appVersion } = parsed<ReleaseMetadata>(metadataBytes, 'helm get metadata');
  const { namespace = '' } = status;
  const objects = parseObjects(status.manifest ?? '', 'the manifest of the release');
  const found = {
    release: status.name,
    namespace,
    revision: status.version,
    status: status.info?.status,
    chart,
    chartVersion: version,
    appVersion: appVersion || undefined,
    notes: status.info?.notes?.trim() || undefined,
  };
  const outputs = Object.entries(found).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, output(value)] as const],
  );
  return {
    outputs: Object.fromEntries(outputs),
    resources: objects.map((object) => {
      const identity = identityOf(object, namespace);
      return {
        provider: providerName,
        type: `${identity.apiVersion}/${identity.kind}`,
        name: identity.name,
        moduleName: identity.namespace,
      };
    }),
    resourceCount: objects.length,
  };
}
