/** What of a state file the service itself looks at. Format: version 4 of terraform and OpenTofu. */

export interface StateFacts {
  readonly serial: number;
  readonly lineage: string;
  /** Managed instances: none means that a destroy has nothing to do. */
  readonly resourceCount: number;
}

interface StateFile {
  version?: unknown;
  serial?: unknown;
  lineage?: unknown;
  resources?: { mode?: string; instances?: unknown[] }[];
}

/** @throws Error that says why the bytes are no state */
export function readStateFacts(bytes: Buffer): StateFacts {
  const file = JSON.parse(bytes.toString('utf8')) as StateFile;
  if (file.version !== 4 || typeof file.serial !== 'number' || typeof file.lineage !== 'string')
    throw new Error('it is no state of version 4 with serial and lineage');
  const managed = (file.resources ?? []).filter((resource) => resource.mode === 'managed');
  return {
    serial: file.serial,
    lineage: file.lineage,
    resourceCount: managed.reduce((sum, resource) => sum + (resource.instances?.length ?? 0), 0),
  };
}
