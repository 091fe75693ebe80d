/**
 * Reads resource events from the file that OpenTofu writes in addition to its human output (`-json-into`),
 * one object per line.
 */
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';
import { impliedProvider, readAddress } from './address.ts';

/** No event about a resource is longer. */
const longestLineBytes = 65_536;

const statuses: Readonly<Record<string, ProgressEvent['status']>> = {
  apply_start: 'started',
  apply_complete: 'done',
  apply_errored: 'failed',
};
const actions: readonly ProgressEvent['action'][] = ['create', 'update', 'delete', 'read'];

interface Line {
  readonly type?: unknown;
  readonly hook?: {
    readonly resource?: { readonly addr?: unknown; readonly implied_provider?: unknown };
    readonly action?: unknown;
    readonly id_value?: unknown;
  };
}

function parse(text: string): Line | null {
  try {
    return JSON.parse(text) as Line | null;
  } catch {
    // An incomplete line of an interrupted tool.
    return null;
  }
}

function eventOf(text: string): ProgressEvent | null {
  const line = parse(text);
  const status =
    typeof line?.type === 'string' && Object.hasOwn(statuses, line.type) ? statuses[line.type] : undefined;
  const { resource, action, id_value: id } = line?.hook ?? {};
  const known = actions.find((name) => name === action);
  if (status === undefined || known === undefined || typeof resource?.addr !== 'string') return null;
  const found = readAddress(resource.addr);
  if (found === null) return null;
  const { address, moduleName, type, name, index } = found.value;
  const provider =
    typeof resource.implied_provider === 'string' ? resource.implied_provider : impliedProvider(type);
  return {
    address,
    moduleName,
    type,
    name: name + index,
    provider,
    status,
    action: known,
    ...(typeof id === 'string' ? { id } : {}),
  };
}

/** Creates a reader of a growing event file. */
export function terraformEvents(): ProgressReader {
  return progressOfLines(longestLineBytes, eventOf);
}
