/** Looks facts up, so that nobody else has to know which tools there are. */
import type { DeploymentType, TemplateType } from '#contract/schema/enumerations.ts';
import * as list from './list.ts';
import { stepsOf } from './steps.ts';
import type { ProgramFacts, ToolFacts } from './tool.ts';

export type RunnableTool = keyof typeof list & TemplateType;

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

/** The facts of the tool whose program has a name. */
export function toolOfProgram(name: string): ToolFacts | undefined {
  return Object.values(tools).find(({ program }) => program.name === name);
}

/** The facts of a program by its name; undefined for one that belongs to no tool, such as git. */
export function programFacts(name: string): ProgramFacts | undefined {
  return toolOfProgram(name)?.program;
}

/** The ordered step names of a deployment. */
export function deploymentSteps(tool: RunnableTool, type: DeploymentType): string[] {
  return stepsOf(tools[tool], type);
}
