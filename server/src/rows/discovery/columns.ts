/** Types of columns that are text to the database. */
import type {
  DiscoveryType,
  EnvironmentPlacement,
  FolderStatus,
  Removal,
  WorkspaceNaming,
} from '#contract/discovery/choices.ts';
import type { ScanCause, ScanStatus } from '#contract/discovery/shapes.ts';

export interface Columns {
  'discovery.type': DiscoveryType;
  'discovery.environment_placement': EnvironmentPlacement;
  'discovery.workspace_naming': WorkspaceNaming;
  'discovery.on_removal': Removal;
  'discovery_scan.cause': ScanCause;
  'discovery_scan.status': ScanStatus;
  'discovery_folder.kind': 'folder' | 'entry';
  'discovery_folder.status': FolderStatus;
}
