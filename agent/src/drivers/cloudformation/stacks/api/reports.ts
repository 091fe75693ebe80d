/** Messages between the driver and its program: requests in a file, and reports on standard output. */
import { ownFolder } from '../../../interface/own-folder.ts';

/** Written by the driver for all commands of a phase; contains values. */
export interface StackRequest {
  readonly stackName: string;
  readonly environmentId: string;
  readonly deploymentId: string;
  /** Nothing is ever applied: the run leaves nothing in AWS. */
  readonly isPlanOnly: boolean;
  /** Relative to the configuration's folder; null: the first of the usual names. */
  readonly templateFile: string | null;
  readonly parametersFile: string | null;
  /** By name; those of the file come first. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Values that no report shows. */
  readonly secrets: readonly string[];
  readonly capabilities: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly roleArn: string | null;
  readonly notificationArns: readonly string[];
  readonly disablesRollback: boolean;
  readonly upload: Upload | null;
  readonly continuesRollback: readonly string[] | null;
  /** Change sets undo what was changed outside of the stack. */
  readonly revertsDrift: boolean;
  /** Resources that a deletion, which has failed, leaves behind. */
  readonly retained: readonly string[];
}

/** Upload of templates that are too large for a request. */
export interface Upload {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  readonly kmsKeyId: string | null;
}

/** Event of one resource. */
export interface StackChange {
  /** `SyncWithActual`: nothing changes but what AWS remembers of it. */
  readonly action: 'Add' | 'Modify' | 'Remove' | 'Import' | 'Dynamic' | 'SyncWithActual';
  readonly logicalId: string;
  readonly physicalId: string | null;
  readonly type: string;
  /** Logical ids of the nested stacks that it is in, from the outermost on. */
  readonly within: readonly string[];
  readonly replacement: 'True' | 'False' | 'Conditional' | null;
  /** Treatment of a removed or replaced resource by AWS, if it is not deleted. */
  readonly policy: string | null;
  readonly properties: readonly PropertyChange[];
  /** It was changed or deleted outside of its stack, which the change undoes. */
  readonly isDrifted: boolean;
}

export interface PropertyChange {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly recreation: string | null;
  /** Why it changes, such as another resource. */
  readonly cause: string | null;
}

/** A change set as it is now. */
export interface ChangeSetReport {
  readonly stackId: string;
  /** Null: there is nothing to change, and no change set. */
  readonly changeSetId: string | null;
  readonly isCreation: boolean;
  /** Says that the change set is there and can be executed, or why not. */
  readonly state: 'ready' | 'begun' | ChangeSetProblem;
  readonly changes: readonly StackChange[];
  /** SHA-256 of the changes as AWS describes them. */
  readonly hash: string;
}

export interface ChangeSetProblem {
  /** Completes a sentence. */
  readonly problem: string;
}

/** Approved content of a change set. */
export type ApprovedChangeSet = Pick<ChangeSetReport, 'stackId' | 'changeSetId' | 'hash'>;

export interface StackResource {
  readonly logicalId: string;
  readonly physicalId: string | null;
  readonly type: string;
  readonly within: readonly string[];
}

/** Resources that a destroy deletes. */
export interface DeletionReport {
  /** Null: there is no stack of this environment. */
  readonly stackId: string | null;
  readonly resources: readonly (StackResource & {
    /** Why a deletion leaves it; null: it is deleted. */
    readonly stays: string | null;
  })[];
}

export interface OutputsReport {
  readonly outputs: readonly {
    readonly name: string;
    readonly value: string;
    readonly isSensitive: boolean;
  }[];
  readonly resources: readonly StackResource[];
}

export interface DriftReport {
  readonly drifts: readonly (StackResource & {
    readonly status: 'MODIFIED' | 'DELETED';
    readonly differences: readonly {
      readonly path: string;
      readonly expected: unknown;
      readonly actual: unknown;
    }[];
  })[];
}

/** The verbs of the program. */
export const verbs = [
  'validate',
  'create-change-set',
  'describe-change-set',
  'execute-change-set',
  'describe-outputs',
  'detect-drift',
  'plan-deletion',
  'delete-stack',
] as const;
export type ResourceVerb = (typeof verbs)[number];

/** The tag of a stack that says which environment has made it. */
export const environmentTag = 'envarium:environment-id';

/** The request's file, relative to the configuration's folder. */
export const requestFile = `${ownFolder}/stack-request.json`;

/** Begins the last message of a command that fails. */
export const errorMark = 'Error: ';

/** As rows and resources name who has them. */
export const providerName = 'aws';

/**
 * An event of a resource as a line of the log: time, status, type, path, in brackets the physical id, then what AWS
 * says.
 */
export function eventLine(event: {
  readonly time: string;
  readonly status: string;
  readonly type: string;
  readonly path: string;
  readonly physicalId: string | undefined;
  readonly reason: string | undefined;
}): string {
  const { time, status, type, path, physicalId, reason } = event;
  const id = physicalId ? ` [${physicalId}]` : '';
  // Resources with code of their own name their ids and reasons.
  return `${time} ${status} ${type} ${path}${id}${reason ? `: ${reason}` : ''}`.replaceAll(
    /[\s\x00-\x1f\x7f-\x9f]+/g,
    ' ',
  );
}

/** A resource that failed, and why. */
export interface FailedResource {
  /** Logical ids of the nested stacks that it is in and its own, with dots between. */
  readonly path: string;
  readonly type: string;
  readonly reason: string;
}

/** Stacks are nested in a few levels. */
const deepestStack = 32;

/** The paths of the nested stacks that a resource is in. */
function stacksAround(path: string): string[] {
  const names = path.split('.', deepestStack);
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('.'));
}

/**
 * Those that failed for a reason of their own: AWS cancels what it has begun when another resource fails, and a nested
 * stack fails with what is in it.
 */
export function ownFailures(all: readonly FailedResource[]): FailedResource[] {
  const failed = all.filter(({ reason }) => !/cancel+ed/i.test(reason));
  const around = new Set(failed.flatMap(({ path }) => stacksAround(path)));
  return failed.filter(({ type, path }) => type !== 'AWS::CloudFormation::Stack' || !around.has(path));
}

/** The failure as a text for people, without line breaks. */
export function failureText({ path, type, reason }: FailedResource): string {
  return `${path} (${type}): ${reason.replaceAll(/\s+/g, ' ')}`;
}

const failedEvent = /^\S+ [A-Z]+_FAILED (\S+) (\S+)(?: \[[^\]]*\])?: (.*)$/;

/** Reads a line of `eventLine`. @returns null if it is not about a resource that failed for a reason */
export function failureOfEvent(line: string): FailedResource | null {
  const [, type = '', path = '', reason = ''] = failedEvent.exec(line) ?? [];
  return path === '' ? null : { type, path, reason };
}
