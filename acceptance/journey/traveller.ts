/** What a tool brings along to the journey: its code, its world, and how each of them is spoilt and mended. */
import type { TestContext } from 'node:test';
import type { PlanSummary } from '#contract/deployments/plan.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import type { RunnableTool } from '#protocol/tools/index.ts';
import type { EnvironmentRequest } from '../runs.ts';
import type { Files } from '../service.ts';

/** A tool on its journey. */
export interface Traveller {
  readonly type: RunnableTool;
  /** Where several travel with the same tool: what distinguishes this one. */
  readonly manner?: string;
  /** What its tests need of this machine. */
  readonly needs: { readonly skip: string | false };
  /** Settings of its service and its agent. @param folder for what they name */
  settings(folder: string): Promise<Readonly<Record<string, string>>>;
  /** Prepares a world. @param folder for what it consists of */
  arrive(t: TestContext, folder: string): Promise<JourneyScenario>;
}

/** What exists in reality, by name, with what matters of it. */
export type World = Readonly<Record<string, string>>;

/** What a plan announces, and what the world is once it is applied. */
export interface Expected {
  readonly summary: PlanSummary;
  /** Rows of the plan, each with its action in front of its address, sorted. Actions of type `metadata` are left out. */
  readonly rows: readonly string[];
  readonly world: World;
}

/** What is different from a deployment on. */
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
    /** What the row shows of what is there now; absent: the tool only says that it is not what it was. */
    readonly evidence?: RegExp;
  };
  /** A deployment that changes something, and then waits for what never comes. */
  readonly hang: Alteration & {
    /** Whether it waits. */
    isWaiting(): Promise<boolean>;
    /** What the next deployment does after the abort. */
    readonly next: Alteration & Expected;
  };
  /** A deployment that fails after it has changed something. */
  readonly failure: Alteration & {
    /** Makes it fail: called once it is planned. */
    spoil?(): Promise<void>;
    readonly reason: RegExp;
    /** What is there afterwards. */
    readonly world: World;
    /** Mends the cause. */
    mend(): Promise<void>;
    /** What the next deployment does. */
    readonly next: Alteration & Expected;
  };
  readonly destroy: Expected;
}
