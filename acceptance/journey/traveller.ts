/** Contribution of a tool to the journey: its code, its world, and how each of them is broken and repaired. */
import type { TestContext } from 'node:test';
import type { PlanSummary } from '#contract/deployments/plan.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import type { RunnableTool } from '#protocol/tools/index.ts';
import type { EnvironmentRequest } from '../runs.ts';
import type { Files } from '../service.ts';

/** A tool on its journey. */
export interface Traveller {
  readonly type: RunnableTool;
  /** Distinguishing name if several travel with the same tool. */
  readonly manner?: string;
  /** Requirements of its tests for this machine. */
  readonly needs: { readonly skip: string | false };
  /** Settings of its service and its agent. @param folder for what they name */
  settings(folder: string): Promise<Readonly<Record<string, string>>>;
  /** Prepares a world. @param folder for what it consists of */
  arrive(t: TestContext, folder: string): Promise<JourneyScenario>;
}

/** Real objects by name, with the relevant part of each. */
export type World = Readonly<Record<string, string>>;

/** Announcement of a plan, and the world once it is applied. */
export interface Expected {
  readonly summary: PlanSummary;
  /** Rows of the plan, each with its action in front of its address, sorted. Actions of type `metadata` are left out. */
  readonly rows: readonly string[];
  readonly world: World;
}

/** Difference from a deployment on. */
export interface Alteration {
  /** Files of the repository. */
  readonly files?: Files;
  readonly variables?: readonly VariableChange[];
}

export interface JourneyScenario {
  readonly files: Files;
  readonly request: Omit<EnvironmentRequest, 'repository'>;
  /** The value of a sensitive variable, which neither plan nor log may show. */
  readonly secret: string;
  /** Looks at reality without the service. */
  world(): Promise<World>;
  readonly create: Expected & {
    /** Outputs by name; absent: the tool has none. */
    readonly outputs?: Readonly<Record<string, unknown>>;
    /** Resources after it, if the tool's are counted otherwise than its rows. */
    readonly resourceCount?: number;
  };
  readonly change: Alteration & Expected & { readonly outputs?: Readonly<Record<string, unknown>> };
  readonly drift: {
    /** Changes something in reality that the environment manages. */
    cause(): Promise<void>;
    /** The row that names it, as in `Expected`. */
    readonly row: string;
    /** Part of the row with the current state; absent: the tool only shows that it differs. */
    readonly evidence?: RegExp;
  };
  /** A deployment that changes something, and then waits for what never comes. */
  readonly hang: Alteration & {
    /** Whether it waits. */
    isWaiting(): Promise<boolean>;
    /** Actions of the next deployment after the abort. */
    readonly next: Alteration & Expected;
  };
  /** A deployment that fails after it has changed something. */
  readonly failure: Alteration & {
    /** Makes it fail: called once it is planned. */
    spoil?(): Promise<void>;
    readonly reason: RegExp;
    /** Objects afterwards. */
    readonly world: World;
    /** Mends the cause. */
    mend(): Promise<void>;
    /** Actions of the next deployment. */
    readonly next: Alteration & Expected;
  };
  readonly destroy: Expected;
}
