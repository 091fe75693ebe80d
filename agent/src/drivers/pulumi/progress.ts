/** Reads the progress of an update or a destroy from the events of Pulumi's engine. */
import { isManagedType } from '#protocol/tools/pulumi/state.ts';
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';
import {
  type EngineEvent,
  longestEventBytes,
  packageOf,
  readEvent,
  type StepMetadata,
  urnParts,
} from './events.ts';

/** Steps that change or read resources; those without an entry only arrange the state. */
const actions: Readonly<Record<string, ProgressEvent['action']>> = {
  create: 'create',
  'create-replacement': 'create',
  update: 'update',
  delete: 'delete',
  'delete-replaced': 'delete',
  read: 'read',
  'read-replacement': 'read',
  import: 'read',
  'import-replacement': 'read',
};

function stepOf(metadata: StepMetadata, status: ProgressEvent['status']): ProgressEvent | null {
  const action = actions[metadata.op];
  if (action === undefined || !isManagedType(metadata.type)) return null;
  const { parents, type, name } = urnParts(metadata.urn);
  const id = (metadata.new ?? metadata.old)?.id;
  return {
    address: metadata.urn,
    provider: packageOf(type),
    type,
    name,
    moduleName: parents.filter(isManagedType).join('/'),
    status,
    action,
    ...(id === undefined || id === '' ? {} : { id }),
  };
}

function progressOf(event: EngineEvent): ProgressEvent | null {
  const { resourcePreEvent, resOutputsEvent, resOpFailedEvent } = event;
  if (resourcePreEvent !== undefined) return stepOf(resourcePreEvent.metadata, 'started');
  if (resOutputsEvent !== undefined) return stepOf(resOutputsEvent.metadata, 'done');
  return resOpFailedEvent === undefined ? null : stepOf(resOpFailedEvent.metadata, 'failed');
}

/** Creates a reader of a file of events in chunks of any size. */
export function pulumiProgress(): ProgressReader {
  return progressOfLines(longestEventBytes, (line) => {
    const event = readEvent(line);
    return event === null ? null : progressOf(event);
  });
}
