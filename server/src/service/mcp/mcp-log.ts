/** The log of a step as MCP servers read it. */
import { type McpLog, mcpLogKilobytes } from '#contract/mcp/shapes.ts';
import type { Context } from '../../framework/context.ts';
import type { StepRow } from '../../rows/logs/step-store.ts';
import { readLogEnd } from '../../runs/logs/log-end.ts';

/** The first step that failed or timed out. */
export function failedStep(steps: readonly StepRow[]): StepRow | undefined {
  return steps.find(({ status }) => status === 'FAIL' || status === 'TIMEOUT');
}

export async function mcpLog(context: Pick<Context, 'db'>, step: StepRow): Promise<McpLog> {
  const { events, isTruncated } = await readLogEnd(context, step, mcpLogKilobytes * 1024);
  return { stepName: step.name, events, truncated: isTruncated };
}
