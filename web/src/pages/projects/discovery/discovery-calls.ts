/** Calls of environment discovery for a terminal, with the project's own id. */
import { callOf, type ShownCall } from '../../../ui/calls.ts';

/** The first configuration of a project. */
export function firstCall(projectId: string): ShownCall {
  const [repository, globPattern] = ['https://git.example.com/live.git', 'prod/**/main.tf'];
  return callOf(
    'Configure discovery',
    'setDiscovery',
    { params: { projectId }, body: { repository, globPattern } },
    ['discovery', 'set', projectId, '--repository', repository, '--glob', globPattern],
  );
}

export function discoveryCalls(projectId: string): ShownCall[] {
  const input = { params: { projectId } };
  return [
    callOf('Show the configuration', 'getDiscovery', input, ['discovery', 'show', projectId]),
    callOf('List the folders', 'getDiscoveryState', input, ['discovery', 'folders', projectId]),
    callOf('List the last scans', 'listDiscoveryScans', input, ['discovery', 'scans', projectId]),
    callOf('Preview a scan', 'previewDiscovery', { ...input, body: {} }, ['discovery', 'preview', projectId]),
    callOf('Scan now', 'startDiscoveryScan', input, ['discovery', 'scan', projectId]),
    firstCall(projectId),
  ];
}
