/**
 * What a driver of an IaC tool is: it describes, the runner does. A driver never spawns a process, never
 * opens a socket and never reads the tree itself except through the reader it is given.
 *
 * What only some tools have is a capability: a group of members that a driver has or leaves out. A driver
 * without `state` is never asked for a state, and its runs have no step that stores one. A driver without
 * `savedPlan` is used for a plan that a person reads, and for an apply that computes again what it does.
 *
 * Order of calls in a plan phase: `refusals`, `warnings`, `state.isOurs`, `files`, `prepare`,
 * `state.otherWorkspaces`, `state.checkPrepared`, `plan`, `readPlan`. In an apply phase: `files`, `prepare`,
 * `state.checkPrepared` (only when the tree was restored), `apply`, `progress` while it runs, then `state.read`
 * or `outputs.read`. Commands run one after the other in the configuration's folder; the first that fails ends
 * the phase.
 *
 * Cancellation: the runner sends one SIGINT to the tool, waits the abort time, then kills its group. A driver
 * takes no part in it.
 *
 * Laws, checked by one conformance suite for all drivers: labels are unique and non-empty; every command's
 * step is one of the deployment's steps; no variable's value appears in any argument list; a destroy differs
 * from a deploy; a recorded plan is read to the expected summary; a driver has the capabilities that its
 * tool's facts promise.
 */
import type { TemplateType } from '#contract/schema/enumerations.ts';
import type { Plan, PlanSummary, Resource } from '#contract/deployments/plan.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { RequiredVersion } from '../toolchain/choose-tool.ts';

/** What one command is and how its end is read. Arguments are an array; nothing here ever meets a shell. */
export interface Command {
  /** Step whose log receives the output, one of `deploymentSteps`. */
  readonly step: string;
  /** What a person reads as `failedCommand`: program and verb, never a value. Unique within the phase. */
  readonly label: string;
  /** Key of `RunnerOrder.toolPaths`. */
  readonly program: string;
  readonly args: readonly string[];
  /** In addition to the run's variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Exit codes besides 0 that are not failures. */
  readonly goodExitCodes?: readonly number[];
  /**
   * Standard output goes to this file of the attempt's scratch folder instead of the step's log
   * (machine-readable output).
   */
  readonly captureTo?: string;
  /** The command installs providers: the runner lends it the agent's cache. */
  readonly installsProviders?: boolean;
  /**
   * The command changes the world: the runner stores a start mark before it, and follows the state while it
   * runs.
   */
  readonly isChanging?: boolean;
  /**
   * The command loads modules: the runner lets it, and no other, reach those that need the run's own
   * credentials.
   */
  readonly loadsModules?: boolean;
  /**
   * Absolute path of a file next to the plan to which the command itself writes its progress, read by
   * `progress.fromFile`; absent: it is read from the step's log.
   */
  readonly eventFile?: string;
  /**
   * Runs only where the state file that is ours is encrypted by the tool, so that the file does not tell
   * outputs and resources.
   */
  readonly isForEncryptedState?: boolean;
}

/** A file that the runner writes into the configuration's folder as the slot's user before `prepare`. */
export interface FileToWrite {
  /** Relative to the configuration's folder, no `..`. */
  readonly name: string;
  readonly content: string;
  /** Holds variable values: mode 0600, never travels, never kept. */
  readonly isSecret: boolean;
}

/** Reads text files of the tree with the slot's rights. */
export interface TreeReader {
  /** Names of the entries of a folder of the configuration; `''` is the configuration's folder itself. */
  list(folder: string): Promise<string[]>;
  /** A file's text, or null if there is none. Throws above 10 MB. */
  text(name: string): Promise<string | null>;
}

export interface DriverContext {
  readonly job: Job;
  /** Absolute path of the configuration's folder. */
  readonly configurationFolder: string;
  /**
   * Absolute path of a folder outside of the tree, owned by the slot's user, where the state lives while a
   * command runs; null where the state is not ours. Every phase of a deployment must offer the same path
   * relative to the configuration's folder: a saved plan remembers it.
   */
  readonly stateFolder: string | null;
  /**
   * Absolute path of the saved plan while the phase runs. Its folder belongs to the slot's user, is outside of
   * the tree, and is empty when a phase begins; drivers without saved plans may use it too.
   */
  readonly planFile: string;
  /** Absolute path of the tool's CLI configuration where the agent has made one. */
  readonly cliConfigurationFile?: string;
  readonly tree: TreeReader;
}

/** What a plan says, in the one common form. Sensitive values are already replaced. */
export interface PlanReading {
  readonly plan: Plan;
  readonly planSummary: PlanSummary;
  readonly hasChanges: boolean;
  readonly hasResourceChanges: boolean;
  readonly providerVersions: Record<string, string>;
  readonly moduleVersions: Record<string, string>;
}

/** What a state holds. */
export interface StateReading {
  readonly serial: number;
  readonly lineage: string;
  readonly outputs: NonNullable<Outcome['outputs']>;
  readonly resources: Resource[];
  /** Instances, not blocks: a resource with `count = 3` counts three. */
  readonly resourceCount: number;
  /** SHA-256 of what the state holds; serial, lineage and the like do not count. Becomes `stateFileHash`. */
  readonly hash: string;
  /** The tool has encrypted it: outputs and resources are not known from here, and stand empty. */
  readonly isEncrypted?: boolean;
}

/** The bytes are not a complete state: a tool was writing it, or died while it did. */
export class TornState extends Error {
  override readonly name = 'TornState';
}

/**
 * Turns a changing command's output, fed in chunks of raw bytes as they come, into what happens to resources.
 */
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
 * A state that the backend of the code keeps. The commands run where the state is not ours, and change
 * nothing there.
 */
export interface KeptElsewhere {
  /** The backend as the code calls it. */
  readonly name: string;
  /** Run first, in their order. */
  readonly reach: readonly Command[];
  /**
   * @returns the command that captures the state (nothing where there is none), or why there is none to read
   */
  read(captures: ReadonlyMap<string, Uint8Array>): Command | { readonly nothing: string };
}

/**
 * What is checked before the first plan in a workspace whose name was generated: the other workspaces of the
 * code's backend. The commands run after `init` and before the workspace is selected, and change nothing.
 */
export interface OtherWorkspaces {
  /** The backend as the code calls it. */
  readonly backend: string;
  /** Run variable that allows the empty workspace. */
  readonly variable: string;
  readonly list: Command;
  /** @param output what `list` captured */
  names(output: Uint8Array): string[];
  /** Captures the state of a workspace; nothing if it has none. */
  pull(workspace: string): Command;
}

/** The tool keeps a state, which may be ours: stored, locked and versioned by the service. */
export interface StateCapability {
  /**
   * Whether the state is ours, from the code and `job.state.isForced`. Throws an Error that a person can read
   * when the code does not parse.
   */
  isOurs(context: Omit<DriverContext, 'stateFolder'>): Promise<boolean>;
  /**
   * Where the state is before it becomes ours, called only while we have none; null where the code keeps none
   * elsewhere.
   */
  elsewhere(context: DriverContext): Promise<KeptElsewhere | null>;
  /** How other workspaces are checked before the plan; null if this run does not need it. */
  otherWorkspaces(context: DriverContext): Promise<OtherWorkspaces | null>;
  /** The name of the state file below `stateFolder`. */
  fileName(context: DriverContext): string;
  /**
   * The file in the configuration's folder to which the tool writes a state that it cannot write to its place.
   */
  readonly rescueFile: string;
  /** What must be in the tree when a person's task calls the tool; written after `prepare`. */
  taskFiles(context: DriverContext): FileToWrite[];
  /**
   * Checks after `prepare` what became of the state override, given the tool's own record of it; a text says
   * what is wrong.
   */
  checkPrepared(context: DriverContext): Promise<string | null>;
  /** Throws TornState when the bytes are empty or not complete. */
  read(bytes: Uint8Array): StateReading;
}

/** The tool saves its plan in `planFile`, and its apply carries out that plan and nothing else. */
export interface SavedPlanCapability {
  /**
   * What a new plan would do that the approved one would not, in words; null where it only does what is left
   * of it. Both as the last command of `plan` captures them.
   */
  beyondApproved(approved: Uint8Array, replanned: Uint8Array): string | null;
}

/** The tool says what happens to resources while it changes them. */
export interface ProgressCapability {
  /** Reads a step's log. */
  fromLog(context: DriverContext): ProgressReader;
  /** Reads the `eventFile` of a command; only tools whose commands have one. */
  fromFile?(): ProgressReader;
}

/** The tool tells its outputs to whoever asks after an apply; for tools without a state. */
export interface OutputsCapability {
  /** @param captures what the commands of `apply` that do not change anything have captured */
  read(captures: ReadonlyMap<string, Uint8Array>): OutputsReading;
}
export type OutputsReading = Pick<Outcome, 'outputs' | 'resources' | 'resourceCount'>;

/**
 * The tool installs providers by the protocol of terraform's registries: the agent lends it its cache, and
 * writes its CLI configuration.
 */
export interface ProviderCapability {
  /** Variable that names a CLI configuration; a run that sets it arranges its providers itself. */
  readonly configurationVariable: string;
  /** Files of a folder that may name registries. */
  readonly codeFiles: RegExp;
  /** Packages are accepted only with a signature of their publisher. */
  readonly needsSignature: boolean;
}

export interface Driver {
  readonly type: TemplateType;
  /**
   * Programs that this driver runs, looked up by the agent before it claims. The first is the tool's own, whose
   * version the environment chooses.
   */
  readonly programs: readonly string[];
  /** The command whose output tells the version of a program, and how to read it. */
  readonly version: { readonly args: readonly string[]; read(output: string): string };
  /**
   * The constraints that the configuration's code puts on the tool's version. Throws an Error that a person
   * can read when it does not parse.
   */
  requiredVersions?(tree: TreeReader): Promise<readonly RequiredVersion[]>;
  /** Files whose text may name other folders of the repository, which a sparse clone then fetches too. */
  readonly codeFiles?: RegExp;
  /**
   * Reasons why this job must not run at all (a user's variable that would move the state, say); each names
   * the field.
   */
  refusals(job: Job): string[];
  /** What a person should know though the run continues; one sentence each, for the log of the first step. */
  warnings(context: Omit<DriverContext, 'stateFolder'>): Promise<string[]>;
  /**
   * Variables, state override and whatever else must be in the tree. Throws an Error that names the variable
   * whose value cannot be converted.
   */
  files(context: DriverContext): Promise<FileToWrite[]>;
  /** Environment of every command of this driver. */
  environment(context: DriverContext): Record<string, string>;
  prepare(context: DriverContext): Promise<Command[]>;
  plan(context: DriverContext): Command[];
  /**
   * @param files captured outputs by `captureTo` name; `evidence` are further readings such as a refresh-only
   * plan
   */
  readPlan(context: DriverContext, files: ReadonlyMap<string, Uint8Array>): Promise<PlanReading>;
  /** One changing command, and those that read afterwards what it left. */
  apply(context: DriverContext): Command[];
  /** What is tidied up after a destroy that ended well; a failure there is a warning. */
  afterDestroy?(context: DriverContext): Promise<Command[]>;
  /**
   * File in the configuration's folder that fixes what `prepare` installs; it is part of what is approved.
   */
  readonly lockFile?: string;
  /** What `prepare` makes again below the configuration's folder, and an apply elsewhere need not be sent. */
  readonly installed?: readonly string[];
  /** The tool's last diagnostic in a step's output, as `error.message`; null where it gave none. */
  lastDiagnostic(output: string): string | null;

  readonly state?: StateCapability;
  readonly savedPlan?: SavedPlanCapability;
  readonly progress?: ProgressCapability;
  readonly outputs?: OutputsCapability;
  readonly providers?: ProviderCapability;
}
