/** Reads the progress of an update or a destroy from the events of Pulumi's engine. */
import { isManagedType } from '#protocol/tools/pulumi/state.ts';
import type { ProgressEvent, ProgressReader } from '../driver.ts';
import { type EngineEvent, eventSplitter, packageOf, type StepMetadata, urnParts } from './events.ts';

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

function progressOf(metadata: StepMetadata, status: ProgressEvent['status']): ProgressEvent | null {
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

function eventOf(event: EngineEvent): ProgressEvent | null {
  const { resourcePreEvent, resOutputsEvent, resOpFailedEvent } = event;
  if (resourcePreEvent !== undefined) return progressOf(resourcePreEvent.metadata, 'started');
  if (resOutputsEvent !== undefined) return progressOf(resOutputsEvent.metadata, 'done');
  return resOpFailedEvent === undefined ? null : progressOf(resOpFailedEvent.metadata, 'failed');
}

/** Creates a reader of a file of events in chunks of any size. */
export function pulumiProgress(): ProgressReader {
  const found: ProgressEvent[] = [];
  const take = eventSplitter((event) => {
    const progress = eventOf(event);
    if (progress !== null) found.push(progress);
  });
  return {
    read(bytes) {
      take(bytes);
      return found.splice(0);
    },
  };
}
