/**
 * Facts for all our programs about an IaC tool without running it. A tool has two places: a file of
 * facts next to this one, and a driver in the agent. Facts are data and pure functions; they load no schema,
 * open no file and no connection.
 */
import type { TemplateType, VariableType } from '#contract/schema/enumerations.ts';
import type { toolVersionRequestFields } from '#contract/sources/shapes.ts';
import type { CompanionFacts, ProgramFacts } from './programs/program.ts';

export interface ToolFacts {
  readonly type: TemplateType;
  /** As messages and pages name it. */
  readonly label: string;
  /** Its own program, whose version is the tool's. */
  readonly program: ProgramFacts;
  /** Other programs that its driver runs. */
  readonly companions: readonly CompanionFacts[];
  readonly version: VersionFacts;
  readonly steps: StepFacts;
  /**
   * The tool keeps a state that the service can store, lock and version. Null: whatever the tool manages is its
   * only record.
   */
  readonly state: StateFormat | null;
  /** Subject of an approval with this tool. */
  readonly approval: ToolApproval;
  /** Runs work on a cluster of Kubernetes, and need a kubeconfig. Absent: they do not. */
  readonly worksOnCluster?: true;
  /** A secret that the service makes for an environment, for runs whose variables have none. Absent: none is needed. */
  readonly generatedSecret?: GeneratedSecret;
  /** Values in HCL reach the tool as they are written. Absent: as JSON, and only constants can be converted. */
  readonly evaluatesHcl?: true;
  /** Infracost knows what a plan of the tool costs. Absent: it does not. */
  readonly estimatesCosts?: true;
  /** A plan of the tool can take existing resources into the state; older versions may not support it. */
  readonly importsResources: boolean;
  /** Arguments of the plan for a deployment's targets and options. */
  planArguments(request: PlanRequest): string[];
  /**
   * Why no run of this tool can have a variable, as a text that begins with the variable's name; null if it
   * can. Called when a variable is written, for all tools, and before each run for its own.
   * @param value as resolved or as written; never repeated in the answer
   */
  variableRefusal(type: VariableType, name: string, value: string): string | null;
  /**
   * Why no run of this tool can have environment variables together, as a text that begins with the name of one of
   * them and contains no value; null if it can. Called when a deployment is requested, and before each run, with
   * variables that `variableRefusal` accepts. Absent: no variable depends on others.
   * @param environment values as resolved or as written
   */
  environmentRefusal?(environment: Readonly<Record<string, string>>): string | null;
  /**
   * Why the tool takes no environment with a workspace of this name, as the rest of a sentence that begins with
   * `workspaceName`; null if it does. Absent: it takes every name that the service takes.
   */
  workspaceNameRefusal?(name: string): string | null;
  /** Other downloads of runs of this tool, for `envarium doctor`. */
  readonly downloads: readonly Download[];
}

/** A random text that all runs of an environment get in an environment variable. */
export interface GeneratedSecret {
  /** A variable of this name that people set is used instead. */
  readonly variable: string;
  /** Other variables that make it unnecessary. */
  readonly unless: readonly string[];
}

export interface ToolApproval {
  /** The apply carries out the approved plan and nothing else. False: it looks again at what there is. */
  readonly isExact: boolean;
  /** Completes "The approval covers …". */
  readonly covers: string;
}

/** Requesters of a version of the tool, in addition to the variables of its program. */
export interface VersionFacts {
  /** The template's field; null where there is none. */
  readonly field: keyof typeof toolVersionRequestFields | null;
  /** A file in the code that names a version; null where the tool has no such habit. */
  readonly file: string | null;
}

/** Reader of states in the service; the driver on the agent reads their outputs and resources. */
export interface StateFormat {
  /** A text that files of this format, and no others, have in their first kilobyte. Absent: none has one. */
  readonly mark?: string;
  /** A state that a run left. Throws an Error that completes "it cannot be stored: ". */
  read(bytes: Uint8Array): StateFacts;
  /**
   * A state that a person or a tool outside of runs sends: every part is checked. Throws an Error that
   * completes "it is not a state file: ".
   */
  check(bytes: Uint8Array): StateFacts;
}

export interface StateFacts {
  readonly serial: number;
  readonly lineage: string;
  /** Managed instances: 0 means that a destroy has nothing to do. Null: encrypted, or not all of them are here. */
  readonly resourceCount: number | null;
  /** The tool has encrypted the serial too, and refuses a state with another one in clear. */
  readonly isSerialSealed?: true;
  /** The version of the tool that wrote it; null where it does not say so. */
  readonly toolVersion: string | null;
}

/**
 * Names of the steps in which the tool's commands run. Steps that all tools share, such as the clone, are
 * added by `deploymentSteps`.
 */
export interface StepFacts {
  /** Before the plan, in this order. */
  readonly prepare: readonly string[];
  readonly plan: string;
  readonly apply: string;
  readonly destroy: string;
  /** Source of outputs after a deploy; null if the tool has none. */
  readonly outputs: string | null;
}

export interface PlanRequest {
  readonly targets: readonly string[];
  /** The plan does not read the real resources first. */
  readonly skipsRefresh: boolean;
}

/** Something that runs fetch from the network. */
export interface Download {
  readonly what: string;
  readonly url: string;
  /** The setting that names another source; where it is set, this one is not needed. */
  readonly insteadSetting: string;
  readonly advice: string;
}
