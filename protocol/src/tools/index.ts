/** Looks facts up, so that other code need not know which tools exist. */
import type { DeploymentType, TemplateType } from '#contract/schema/enumerations.ts';
import * as list from './list.ts';
import * as downloaded from './programs/list.ts';
import type { ProgramFacts } from './programs/program.ts';
import { type ExtraSteps, estimatedTypes, stepsOf } from './steps.ts';
import type { ToolFacts } from './tool.ts';

export type RunnableTool = Extract<TemplateType, keyof typeof list>;

/** Tools that this version can run, with their facts. */
export const tools: Readonly<Record<RunnableTool, ToolFacts>> = list;

export const runnableTools = Object.keys(tools) as readonly RunnableTool[];

/** Whether this version can run a tool. */
export function isRunnable(tool: string): tool is RunnableTool {
  return Object.hasOwn(tools, tool);
}

/** @returns undefined for a tool that this version cannot run */
export function toolFacts(tool: string): ToolFacts | undefined {
  return isRunnable(tool) ? tools[tool] : undefined;
}

const programs: ReadonlyMap<string, ProgramFacts> = new Map(
  [
    ...Object.values(downloaded),
    ...Object.values(tools).flatMap(({ program, companions }) => [
      program,
      ...companions.map((companion) => companion.program),
    ]),
  ].map((program) => [program.name, program]),
);

/** Every program that some tool runs. */
export const allPrograms: readonly ProgramFacts[] = [...programs.values()];

/** The facts of a program by its name; undefined for one that belongs to no tool, such as git. */
export function programFacts(name: string): ProgramFacts | undefined {
  return programs.get(name);
}

/** The ordered step names of a deployment. */
export function deploymentSteps(tool: RunnableTool, type: DeploymentType, extra: ExtraSteps = {}): string[] {
  return stepsOf(tools[tool], type, extra);
}

/** Whether the costs of a deployment can be estimated. */
export function canEstimateCosts(tool: string, type: DeploymentType): boolean {
  return toolFacts(tool)?.estimatesCosts === true && estimatedTypes.includes(type);
}
