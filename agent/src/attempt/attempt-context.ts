/** Shared by all parts of an attempt; constant while it runs. */
import type { Job } from '#protocol/messages/job.ts';
import type { Diagnostics } from '../drivers/interface/diagnostics.ts';
import type { Driver } from '../drivers/interface/driver.ts';
import type { StopWatch } from '../processes/stop-watch.ts';
import type { TreeClient } from '../runner/tree/tree-client.ts';
import type { WorkFolderPaths } from '../slots/work-folder.ts';
import type { RunnerOrder, SpoolPaths } from '../spool/layout.ts';
import type { EventLog } from './event-log.ts';
import type { FactCollector } from './fact-collector.ts';
import type { StepRecorder } from './step-recorder.ts';

export interface AttemptContext {
  /** With the variables that its tool can have. */
  readonly job: Job;
  /** The configuration's folder, relative to the tree; `''` for its root. */
  readonly path: string;
  /** The variables of the job and of the system, as programs of the run see them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why each of the other variables cannot be one of the tool. */
  readonly leftOut: readonly string[];
  readonly order: RunnerOrder;
  readonly spool: SpoolPaths;
  readonly folders: WorkFolderPaths;
  readonly driver: Driver;
  readonly stop: StopWatch;
  readonly events: EventLog;
  readonly steps: StepRecorder;
  readonly diagnostics: Diagnostics;
  readonly facts: FactCollector;
  readonly tree: TreeClient;
}
