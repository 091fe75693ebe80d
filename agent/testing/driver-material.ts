/**
 * The conformance suite's material for a tool: recorded output and its expected readings. Every driver folder
 * exports one as `material` from `__fixtures__/material.ts`.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlanSummary } from '#contract/deployments/plan.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { PhaseCaptures } from '../src/drivers/interface/command.ts';
import type { DriverContext } from '../src/drivers/interface/driver.ts';
import { jobOf, treeFrom } from './driver-job.ts';

export interface RecordedPlan {
  /** Additional fields of the plan's job. */
  readonly job?: Partial<Job>;
  /** Captured files by their `captureTo` names. */
  readonly files: Readonly<Record<string, string>>;
  readonly summary: PlanSummary;
  readonly changes: Readonly<Record<string, string>>;
  readonly hasChanges: boolean;
}

export interface Material {
  /** Code that the tool accepts. */
  readonly tree: Readonly<Record<string, string>>;
  /** Additional fields of jobs. */
  readonly job?: Partial<Job>;
  /** Captures of the driver's inspection, as recorded files by name. */
  readonly inspected?: Readonly<Record<string, string>>;
  /** Variables without which no run of the tool is possible. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Variables of type 0 that would break a promise of the tool. Absent: there are none besides those of all tools. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Why a plan of which nothing was captured is one without changes. Absent: it is refused. */
  readonly emptyIsUnchanged?: string;
  /** By scenario, as in the test name "reads …". */
  readonly plans: Readonly<Record<string, RecordedPlan>>;
  /** Only tools with a state. */
  readonly state?: {
    readonly file: string;
    readonly resourceCount: number;
    readonly outputs: Readonly<Record<string, boolean>>;
  };
}

/** Values of the variables of `plantedJob`. */
export const planted = ['planted value one', 'planted-two', 'planted_three', 'user:planted@example'] as const;

/** A job whose variables have values that are easy to find. */
export function plantedJob(changes: Partial<Job>): Job {
  return jobOf({
    variables: {
      environment: [
        { name: 'TOKEN', value: planted[0], isSensitive: true },
        { name: 'PLAIN', value: planted[1], isSensitive: false },
      ],
      terraform: [{ name: 'input', value: planted[2], isSensitive: true }],
    },
    systemVariables: { ENVARIUM_DEPLOYER_EMAIL: planted[3] },
    secrets: [planted[0], planted[2]],
    ...changes,
  });
}

/** @param tool a folder of `agent/src/drivers` */
export async function materialOf(tool: string): Promise<Material> {
  const file: { material: Material } = await import(`../src/drivers/${tool}/__fixtures__/material.ts`);
  return file.material;
}

/** The bytes of a recording. */
export function recordingOf(tool: string, name: string): Promise<Buffer> {
  return readFile(recordingFile(tool, name));
}

function recordingFile(tool: string, name: string): string {
  return join(import.meta.dirname, '../src/drivers', tool, '__fixtures__', name);
}

/** The captures of a recorded plan. */
export async function capturesOf(tool: string, { files }: RecordedPlan): Promise<Map<string, Buffer>> {
  const captures = new Map<string, Buffer>();
  for (const [name, recording] of Object.entries(files))
    captures.set(name, await recordingOf(tool, recording));
  return captures;
}

/** The context of such a job, with what the material says that every run needs. */
export function contextIn(
  material: Material,
  changes: Partial<Job>,
  stateFolder: string | null,
): DriverContext {
  const job = plantedJob({ ...material.job, ...changes });
  const needed = Object.entries(material.environment ?? {}).map(([name, value]) => ({
    name,
    value,
    isSensitive: true,
  }));
  const environment = [...job.variables.environment, ...needed];
  return {
    job: { ...job, variables: { ...job.variables, environment } },
    configurationFolder: '/work folder/tree',
    stateFolder,
    planFile: '/work folder/plan',
    temporaryFolder: '/srv/tmp',
    tree: treeFrom(material.tree),
    ...(material.inspected === undefined ? {} : { inspected: inspectedOf(changes.tool ?? '', material) }),
  };
}

function inspectedOf(tool: string, { inspected = {} }: Material): PhaseCaptures {
  const found = Object.entries(inspected);
  return new Map(found.map(([name, recording]) => [name, readFileSync(recordingFile(tool, recording))]));
}
