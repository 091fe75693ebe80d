/** Words of people for the states of folders and scans. */
import type {
  EnvironmentPlacement,
  FolderStatus,
  Removal,
  WorkspaceNaming,
} from '#contract/discovery/choices.ts';
import type { DiscoveryScan, PreviewAction, ScanCause, ScanStatus } from '#contract/discovery/shapes.ts';
import type { StatusLook } from '../../../design/status.tsx';

export const folderLooks: Readonly<Record<FolderStatus, StatusLook>> = {
  MANAGED: { word: 'Managed', tone: 'ok', shape: 'check' },
  CHANGED: { word: 'To be changed', tone: 'run', shape: 'dotted' },
  PENDING: { word: 'Pending', tone: 'run', shape: 'dotted' },
  RENAMED: { word: 'Renamed?', tone: 'wait', shape: 'diamond' },
  SKIPPED: { word: 'Skipped', tone: 'wait', shape: 'diamond' },
  MISSING: { word: 'Missing', tone: 'wait', shape: 'diamond' },
  REMOVING: { word: 'To be removed', tone: 'fail', shape: 'clock' },
  REMOVED: { word: 'Removed', tone: 'idle', shape: 'bar' },
  DELETED: { word: 'Deleted', tone: 'idle', shape: 'hollow' },
  PASSED_OVER: { word: 'Passed over', tone: 'idle', shape: 'bar' },
};

export const previewLooks: Readonly<Record<PreviewAction, StatusLook>> = {
  create: { word: 'Create', tone: 'ok', shape: 'check' },
  takeIn: { word: 'Take in', tone: 'ok', shape: 'check' },
  change: { word: 'Change', tone: 'run', shape: 'dotted' },
  keep: { word: 'Keep', tone: 'idle', shape: 'hollow' },
  askAboutRename: { word: 'Ask: renamed?', tone: 'wait', shape: 'diamond' },
  skip: { word: 'Skip', tone: 'wait', shape: 'diamond' },
  flag: { word: 'Flag as missing', tone: 'wait', shape: 'diamond' },
  archive: { word: 'Archive', tone: 'fail', shape: 'clock' },
  destroy: { word: 'Destroy', tone: 'fail', shape: 'cross' },
  passOver: { word: 'Pass over', tone: 'idle', shape: 'bar' },
};

export const scanLooks: Readonly<Record<ScanStatus, StatusLook>> = {
  RUNNING: { word: 'Scanning', tone: 'run', shape: 'ring' },
  WAITING_FOR_USER: { word: 'Waiting for confirmation', tone: 'wait', shape: 'diamond' },
  SUCCESS: { word: 'Up to date', tone: 'ok', shape: 'check' },
  FAILURE: { word: 'Scan failed', tone: 'fail', shape: 'cross' },
  CANCELLED: { word: 'Scan cancelled', tone: 'idle', shape: 'bar' },
};

export const causeWords: Readonly<Record<ScanCause, string>> = {
  saved: 'Configuration saved',
  poll: 'Hourly check',
  push: 'Push',
  user: 'On request',
};

export const placementWords: Readonly<Record<EnvironmentPlacement, string>> = {
  topProject: 'In this project',
  existingSubProject: 'In the sub-project whose path the folder begins with',
};

export const namingWords: Readonly<Record<WorkspaceNaming, string>> = {
  default: 'default',
  environmentName: 'From the name of the environment',
};

export const removalWords: Readonly<Record<Removal, string>> = {
  flag: 'Flag the environment, and keep it',
  archive: 'Archive the environment',
  destroy: 'Destroy the environment',
};

/** A number with its noun. */
export function counted(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

/** Findings and actions of a scan, as a sentence; undefined before it has read anything. */
export function scanSentence(scan: DiscoveryScan): string | undefined {
  const { isUnchanged, files, matched = 0, created = 0, removed = 0, failed = 0 } = scan;
  if (isUnchanged) return 'Nothing has changed since the scan before.';
  if (files === undefined) return scan.status === 'RUNNING' ? 'Reading.' : undefined;
  const done = [
    `${matched.toLocaleString('en')} ${matched === 1 ? 'match' : 'matches'} in ${counted(files, 'file')}`,
    `${counted(created, 'environment')} created`,
    ...(removed > 0 ? [`${counted(removed, 'environment')} removed`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
  ];
  return `${done.join(', ')}.`;
}
