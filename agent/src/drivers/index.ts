/** Looks up drivers, so that no other module needs to know the supported tools. */
import { isRunnable, type RunnableTool } from '#protocol/tools/index.ts';
import type { Driver } from './interface/driver.ts';
import * as list from './list.ts';

export const drivers: Readonly<Record<RunnableTool, Driver>> = list;

/** @returns undefined for a tool that this agent does not support */
export function driverOf(tool: string): Driver | undefined {
  return isRunnable(tool) ? drivers[tool] : undefined;
}
