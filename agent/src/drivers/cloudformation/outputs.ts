/** Outputs and resources of a stack after an apply. */
import type { PhaseCaptures } from '../interface/command.ts';
import type { OutputsReading } from '../interface/driver.ts';
import { captured, reportOf } from './captures.ts';
import { type OutputsReport, providerName } from './stacks/api/reports.ts';

export function readOutputs(captures: PhaseCaptures): OutputsReading {
  if (!captures.has(captured.outputs)) return {};
  const { outputs, resources } = reportOf<OutputsReport>(captures, captured.outputs);
  return {
    outputs: Object.fromEntries(
      outputs.map(({ name, value, isSensitive }) => [
        name,
        { value, sensitive: isSensitive, type: 'string' },
      ]),
    ),
    resources: resources.map(({ type, logicalId, within }) => ({
      provider: providerName,
      type,
      name: logicalId,
      moduleName: within.join('.'),
    })),
    resourceCount: resources.length,
  };
}
