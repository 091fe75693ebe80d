/**
 * The interface of a driver of an IaC tool: the driver describes, the runner acts. A driver never spawns a
 * process, never opens a socket, and reads the tree only through its `TreeReader`.
 *
 * Features that only some tools have are capabilities: optional groups of members. Runs of a driver without
 * `state` have no step that stores a state. With a driver without `savedPlan`, the plan is only for people to
 * read, and the apply determines the changes again.
 *
 * Order of calls in a plan phase: `refusals`, `warnings`, `inspect`, `state.isOurs`, `files`, `prepare`,
 * `state.file.otherWorkspaces`, `state.file.checkPrepared`, `plan`, `readPlan`, `savedPlan.compose`. In an apply
 * phase: `files`, `prepare`, `state.file.checkPrepared` (only when the tree was restored), `apply` with
 * `savedPlan.differing` and `state.record.before` ahead of its first changing command, `progress` while one runs,
 * `state.record.after`, then `state.read` or `outputs.read`. Commands run one after the other in the
 * configuration's folder; the first that fails ends the phase. What a command captures is passed to the functions
 * of those after it. Cancellation is up to the runner: one SIGINT to the tool, the abort time, then the end of its group.
 *
 * Rules, checked by one conformance suite for all drivers: labels are unique and non-empty; every command's
 * step is one of the deployment's steps; no variable's value appears in any argument list; a destroy differs
 * from a deploy; a recorded plan yields the expected summary; a driver has the capabilities that its tool's
 * facts declare.
 */

import type { Plan, PlanSummary, Resource } from '#contract/deployments/plan.ts';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { RequiredVersion } from '../../toolchain/choose-tool.ts';
import type {
  CollectorCapability,
  CostCapability,
  ImportCapability,
  Installed,
  InstalledFrom,
  ProviderCapability,
  TreeReader,
} from './capabilities.ts';
import type { Command, Note, PhaseCaptures } from './command.ts';
import type { DiagnosticFinding } from './diagnostics.ts';
import type { KeptElsewhere, OtherWorkspaces, SeveralFiles } from './state-places.ts';

/** A file that the runner writes into the configuration's folder as the slot's user before `prepare`. */
export interface FileToWrite {
  /** Relative to the configuration's folder, without `..`. */
  readonly name: string;
  readonly content: string;
  /** Contains variable values: mode 0600, never transferred, never stored. */
  readonly isSecret: boolean;
}

/** Owner of the constraints, and their code. */
export interface RequiredOf {
  /** Name of the tool's program or of a companion. */
  readonly program: string;
  /** The whole tree. */
  readonly code: TreeReader;
  /** The configuration's folder in it; empty: its root. */
  readonly folder: string;
}

export interface DriverContext {
  readonly job: Job;
  /** Absolute path of the configuration's folder. */
  readonly configurationFolder: string;
  /**
   * Absolute path of a folder outside the tree, owned by the slot's user, that contains the state while a
   * command runs; null if the service does not store the state. Its path relative to the configuration's
   * folder is the same in every phase of a deployment, because a saved plan records it.
   */
  readonly stateFolder: string | null;
  /**
   * Absolute path of the saved plan during the phase. Its folder belongs to the slot's user, is outside the
   * tree, and is empty when a phase starts; drivers without saved plans may use it too.
   */
  readonly planFile: string;
  /** Absolute path of the folder for temporary files. */
  readonly temporaryFolder: string;
  /** The version of the tool's own program; absent as long as it is not known. */
  readonly toolVersion?: string;
  /** Absolute path of the tool's CLI configuration, if the agent has written one. */
  readonly cliConfigurationFile?: string;
  readonly tree: TreeReader;
  /** Reads the whole repository, of which the configuration's folder is a part. */
  readonly code?: TreeReader;
  /** Absolute paths of the driver's programs by name; absent as long as they are not known. */
  readonly programPaths?: Readonly<Record<string, string>>;
  /** Captures of the commands of `inspect`; absent before they have run. */
  readonly inspected?: PhaseCaptures;
  /** The current state as the service stores it; null: it has none. */
  readonly currentState?: () => Uint8Array | null;
}

/** Facts that a driver knows before the state exists. */
export type StatelessContext = Omit<DriverContext, 'stateFolder'>;

/** The contents of a plan in the common form. Sensitive values are already replaced. */
export interface PlanReading extends Pick<Outcome, 'units'> {
  readonly plan: Plan;
  readonly planSummary: PlanSummary;
  readonly hasChanges: boolean;
  readonly hasResourceChanges: boolean;
  readonly providerVersions: Record<string, string>;
  readonly moduleVersions: Record<string, string>;
  /** Facts about the plan that its rows do not show, for its log; without values of variables. */
  readonly remarks?: readonly string[];
}

/** The contents of a state. */
export interface StateReading {
  readonly serial: number;
  readonly lineage: string;
  readonly outputs: NonNullable<Outcome['outputs']>;
  readonly resources: Resource[];
  /** Of `resources`, in their order; undefined where one has none that is text. */
  readonly ids: readonly (string | undefined)[];
  /** Instances, not blocks: a resource with `count = 3` counts three. */
  readonly resourceCount: number;
  /** SHA-256 of the state's content without serial, lineage and the like. Becomes `stateFileHash`. */
  readonly hash: string;
  /** The tool has encrypted the state: outputs and resources are unknown and therefore empty. */
  readonly isEncrypted?: boolean;
}

/** The bytes are not a complete state: the tool was writing it, or was killed while doing so. */
export class TornState extends Error {
  override readonly name = 'TornState';
}

/** Converts a changing command's output, read in chunks of raw bytes, to resource events. */
export interface ProgressReader {
  read(bytes: Uint8Array): ProgressEvent[];
}
export interface ProgressEvent {
  readonly address: string;
  readonly provider: string;
  readonly type: string;
  readonly name: string;
  readonly moduleName: string;
  readonly status: 'started' | 'done' | 'failed';
  readonly action: 'create' | 'update' | 'delete' | 'read';
  readonly id?: string;
}

/**
 * State of the managed resources, which the service may store, lock and version: the tool writes it to a
 * `file`, or the runner keeps a `record` for a tool that remembers nothing.
 */
export interface StateCapability {
  /**
   * Whether the service stores the state, according to the code and `job.state.isForced`. @throws an Error
   * with a message for people if the code cannot be parsed
   */
  isOurs(context: Omit<DriverContext, 'stateFolder'>): Promise<boolean>;
  /** @throws TornState if the bytes are empty or incomplete */
  read(bytes: Uint8Array): StateReading;
  /**
   * The state after an apply whose outputs commands have read. Absent: what the first of them has captured, if it is
   * not empty, or the stored one.
   * @param stored null: the service stores none
   */
  after?(context: DriverContext, captures: PhaseCaptures, stored: StateReading | null): StateReading | null;
  readonly file?: StateFileCapability;
  readonly record?: RecordCapability;
}

/** The service remembers what was applied, for a tool that does not. Each version has the next serial. */
export interface RecordCapability {
  /**
   * The record from before the first changing command of an apply on: everything that may exist while it runs, and
   * after it was killed.
   */
  before(context: DriverContext, captures: PhaseCaptures): Uint8Array;
  /** The record once all changing commands have succeeded. */
  after(context: DriverContext, captures: PhaseCaptures): Uint8Array;
}

/** The tool writes its state to a file while it changes resources. */
export interface StateFileCapability {
  /** The state that the code's backend stores, if any; called only while the service has none. */
  elsewhere(context: DriverContext): Promise<KeptElsewhere | null>;
  /** Check of other workspaces before the plan; null if this run does not need it. */
  otherWorkspaces(context: DriverContext): Promise<OtherWorkspaces | null>;
  /** The name of the state file below `stateFolder`. */
  fileName(context: DriverContext): string;
  /** Why a run cannot continue with a state that the service stores, as a message for people; null: it can. */
  storedProblem?(job: Job, stored: Uint8Array): string | null;
  /** Null or absent: the state is this one file, byte for byte. */
  several?(context: DriverContext): SeveralFiles | null;
  /** The file in the configuration's folder to which the tool writes a state that it cannot store. */
  readonly rescueFile: string;
  /** Files that a task needs in the tree to use the tool; written after `prepare`. */
  taskFiles(context: DriverContext): FileToWrite[];
  /** After `prepare`: what is wrong with the state override, by the tool's own record; null: nothing. */
  checkPrepared(context: DriverContext): Promise<string | null>;
}

/** The plan phase saves a file, which is part of what a person approves, and which the apply phase gets unchanged. */
export interface SavedPlanCapability {
  /** The plan is a folder: `compose` packs what was saved into one file, and the apply finds it at `planFile`. */
  readonly isFolder?: true;
  /** `readPlan` needs the file that was saved: it is one of the captures, `inputs.saved`. */
  readonly isRead?: true;
  /** Composes the file of what the commands captured. Absent: a command of `plan` writes it to `planFile`. */
  compose?(context: DriverContext, captures: PhaseCaptures): Uint8Array | Promise<Uint8Array>;
  /**
   * Compares what an apply is about to do with the approved file, after the commands ahead of its first changing one.
   * @returns the difference as the end of a sentence; null if there is none
   */
  differing?(context: DriverContext, captures: PhaseCaptures): string | null;
  /**
   * The tool's own plan, which is stale once its apply has changed something: a retry makes a new one. Absent: the
   * command can be repeated as it is.
   */
  readonly replanned?: {
    /**
     * Describes the changes of a new plan that the approved one does not contain; null if there are none. Both
     * plans are in the form that the last command of `plan` captures.
     */
    beyondApproved(approved: Uint8Array, replanned: Uint8Array): string | null;
  };
  /** Files with values that the tool reads again for the apply, by path; absent: it uses those in the plan. */
  valueFiles?(context: DriverContext): Promise<readonly string[]>;
  /** In the tree that the plan phase kept, the apply needs neither `files` nor `prepare` again. */
  readonly isTreeReady?: true;
}

/** The tool reports its progress while it changes resources. */
export interface ProgressCapability {
  /** Reads a step's log. */
  fromLog(): ProgressReader;
  /** Reads the `eventFile` of a command; only for tools whose commands have one. */
  fromFile?(): ProgressReader;
}

/** The tool's outputs can be read after an apply; for tools whose state has none. */
export interface OutputsCapability {
  /** @param captures what the commands of `apply` have captured */
  read(captures: PhaseCaptures): OutputsReading;
}
export type OutputsReading = Pick<Outcome, 'outputs' | 'resources' | 'resourceCount'>;

/** A command that installs leaves the same whenever its inputs are the same: other runs can use what it has left. */
export interface ReuseCapability {
  /** The folder of the configuration that the command creates. */
  readonly folder: string;
  /** Variable of a run that, set to `false`, has the command run whatever is known. */
  readonly variable: string;
  /** Variables of the commands that differ between runs and do not change what is installed. */
  readonly ignoredVariables: readonly string[];
  /** Whether a variable of the environment is an input variable of the code, whose value does not change what is installed. */
  isInputVariable(name: string): boolean;
  /**
   * The inputs of an installing command in addition to code, program, files, arguments, environment and the settings for
   * providers; of input variables the names.
   * @param state of the environment; null: it has none
   * @returns null if there may be others
   */
  inputs(
    context: DriverContext,
    command: Command,
    state: Uint8Array | null,
  ): Readonly<Record<string, unknown>> | null;
  /**
   * Reads what the command has left, before anything else runs in the tree.
   * @returns null if that may depend on more than the inputs @throws if a file cannot be read
   */
  read(context: DriverContext, command: Command, from: InstalledFrom): Promise<Installed | null>;
  /**
   * @param folders that an earlier command has read code in
   * @returns a hash of what the command acts on in them, without the lock file @throws if a file cannot be read
   */
  hashOf(code: TreeReader, folders: readonly string[]): Promise<string>;
}

/**
 * Shows what the code consists of where files alone do not. What is found is in the context of all later calls, also
 * in the apply phase.
 */
export interface InspectCapability {
  /** Commands that change nothing, and that run without any file of the driver. */
  commands(context: Omit<DriverContext, 'stateFolder'>): readonly Command[];
  /**
   * More that is to be found, from what the commands have captured, which is in the context.
   * @throws an Error with a message for people if the code cannot be run
   */
  findings(context: Omit<DriverContext, 'stateFolder'>): Promise<PhaseCaptures>;
}

export interface Driver {
  readonly type: TemplateType;
  /**
   * The programs that this driver runs, which the agent looks up before it claims jobs: the tool's own, whose
   * version the environment determines, and its companions, as the tool's facts name them.
   */
  readonly programs: readonly string[];
  /**
   * The code's constraints on the version of the tool's program, or of a companion. @throws an Error with a
   * message for people if the code cannot be parsed
   */
  requiredVersions?(tree: TreeReader, about: RequiredOf): Promise<readonly RequiredVersion[]>;
  /** Files that may refer to other folders of the repository, which a sparse clone then includes. */
  readonly codeFiles?: RegExp;
  /** The tool's own program passes an interrupt on with the second one, also where its runner has been killed. */
  readonly interrupts?: 'twice';
  /** Reasons why this job must not run, such as a variable that would move the state; each names the field. */
  refusals(job: Job): string[];
  /** Warnings that do not stop the run; one sentence each, for the log of the first step. */
  warnings(context: Omit<DriverContext, 'stateFolder'>): Promise<string[]>;
  /** Shows what the code consists of, before `state.isOurs`. */
  readonly inspect?: InspectCapability;
  /**
   * The variables, the state override and other files to write into the tree. @throws an Error that names the
   * variable whose value cannot be converted
   */
  files(context: DriverContext): Promise<FileToWrite[]>;
  /** The environment of all commands of this driver. */
  environment(context: DriverContext): Record<string, string>;
  prepare(context: DriverContext): Promise<(Command | Note)[]>;
  plan(context: DriverContext): Command[];
  readPlan(context: DriverContext, captures: PhaseCaptures): Promise<PlanReading>;
  /** The tool prints no plan for people: the runner adds the changes to the log of the plan. */
  readonly isPlanLogged?: true;
  /**
   * The commands of the apply phase, in this order: those that check, one or more that change resources with those
   * that they wait for, and in the step of the outputs those that read results.
   */
  apply(context: DriverContext): Command[];
  /** Commands that clean up after a successful destroy; a failure is only a warning. */
  afterDestroy?(context: DriverContext): Promise<Command[]>;
  /** The file in the configuration's folder that pins what `prepare` installs; it is part of the approval. */
  readonly lockFile?: string;
  /** Paths below the configuration's folder that `prepare` recreates: an apply elsewhere does not get them. */
  readonly installed?: readonly string[];
  /** More of them, which depend on the code. */
  installedIn?(context: DriverContext): readonly string[];
  /** Why a command with this output failed; null if the output does not say it. */
  reason(output: string): string | null;
  /** Errors, failed checks and warnings in the output of a command. */
  diagnostics?(output: string): readonly DiagnosticFinding[];
  readonly state?: StateCapability;
  readonly savedPlan?: SavedPlanCapability;
  readonly progress?: ProgressCapability;
  readonly imports?: ImportCapability;
  readonly costs?: CostCapability<DriverContext>;
  readonly outputs?: OutputsCapability;
  readonly providers?: ProviderCapability;
  readonly collector?: CollectorCapability;
  readonly reuse?: ReuseCapability;
}
