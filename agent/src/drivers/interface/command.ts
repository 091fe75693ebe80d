/** The commands that a driver describes. */
import type { OwnTool } from '../../own/own-program.ts';

/** Captured outputs of the phase's commands so far, by name, and its inputs, which `inputs` names. */
export type PhaseCaptures = ReadonlyMap<string, Uint8Array>;

/** Names under which a phase's captures hold its inputs. */
export const inputs = {
  /** Saved plan of a command in this phase: a folder is packed, a file exists if the driver reads it. */
  saved: 'input:saved',
  /** The environment's current state, if the service stores one. */
  state: 'input:state',
  /** In an apply phase: the approved plan file, if the driver composes or compares one. */
  approved: 'input:approved',
} as const;

/** A program that a tool starts, with a role of the agent's own program ahead of some of its commands. */
export interface WrappedProgram {
  /** Its name among the driver's programs. */
  readonly program: string;
  /** The environment variable that tells the tool its path. */
  readonly variable: string;
  /** Commands of the program, by their first word. */
  readonly verbs: readonly string[];
  /** Ends with another exit code than 0 where the program must not start. */
  readonly role: OwnTool;
  /** Arguments of the role, ahead of those of the program. */
  readonly args: readonly string[];
}

/** One command and how to interpret its end. Arguments are an array; no shell is involved. */
export interface Command {
  /** The step whose log receives the output, one of `deploymentSteps`. */
  readonly step: string;
  /** Shown to people as `failedCommand`: program and verb, never a value. Unique within the phase. */
  readonly label: string;
  /** Key of `RunnerOrder.toolPaths`. */
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the run's variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Exit codes other than 0 that are not failures. */
  readonly goodExitCodes?: readonly number[];
  /**
   * Standard output goes to this file of the attempt's scratch folder instead of the step's log
   * (machine-readable output). That of a command that changes resources is passed to no function.
   */
  readonly captureTo?: string;
  /** Whether it runs at all, according to what was captured before; absent: always. */
  when?(captures: PhaseCaptures): boolean;
  /**
   * Its standard input, determined once, also for retries and ahead of `state.record.before`; null: the command does not
   * run. Absent: it has none.
   */
  input?(captures: PhaseCaptures): Uint8Array | string | null;
  /** Files that it needs in the temporary folder. */
  writes?(captures: PhaseCaptures): readonly { readonly name: string; readonly content: string }[];
  /** The program that it starts with a check ahead. */
  readonly wraps?: WrappedProgram;
  /**
   * Lines of its output that match are captured under a name; more than 50 MB of them fail the command. What prints them
   * may be hostile: a pattern reads each line only once.
   */
  readonly finds?: { readonly pattern: { test(line: string): boolean }; readonly as: string };
  /**
   * Commands to run after it, in its step: what they are depends on what it left. They only read, and several of them
   * run at a time.
   */
  next?(captures: PhaseCaptures): Promise<readonly Command[]>;
  /** Whether what it left is enough, although its exit code says that it has failed; absent: it is not. */
  isEnough?(captures: PhaseCaptures): boolean;
  /** Explanation of its failure in addition to its last diagnostic; null: none. */
  explain?(captures: PhaseCaptures): string | null;
  /** A file in the temporary folder that the command writes: its content is captured under a name. */
  readonly collects?: { readonly file: string; readonly as: string };
  /** Runs at the same time and is ended with the command; writes to the same log, and may fail. */
  readonly companion?: Pick<Command, 'program' | 'args' | 'label'>;
  /** Show more about a failure of the command, in the same log; they may fail. */
  readonly afterFailure?: readonly Pick<Command, 'program' | 'args' | 'label'>[];
  /** The command installs providers: the runner provides the agent's cache. */
  readonly installsProviders?: boolean;
  /**
   * The command changes resources: the runner stores a start mark before it, and follows the state while it
   * runs.
   */
  readonly isChanging?: boolean;
  /**
   * To stop it, its program gets two interrupts: with the first it waits whether what it has started was interrupted
   * as well, with the second it interrupts that.
   */
  readonly interrupts?: 'twice';
  /**
   * The command loads modules: only such commands get access to modules that need the run's own credentials.
   */
  readonly loadsModules?: boolean;
  /**
   * Absolute path of the plan, a file or a folder, that the command saves: from its end on, the run can read the plan there and
   * cannot change it.
   */
  readonly savesPlan?: string;
  /**
   * Absolute path of a file in the temporary folder to which the command writes its progress, read by
   * `progress.fromFile`; default: progress is read from the step's log.
   */
  readonly eventFile?: string;
  /**
   * Runs only if the service stores the state and the tool has encrypted it, so that the file reveals no
   * outputs and resources.
   */
  readonly isForEncryptedState?: boolean;
}

/** Message of a step without work. */
export interface Note {
  readonly step: string;
  readonly note: string;
}

/** Selects what is run. */
export function onlyCommands(items: readonly (Command | Note)[]): Command[] {
  return items.filter((item): item is Command => !('note' in item));
}
