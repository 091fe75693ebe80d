/** Reports of a deployment's tool: its errors, failed checks and warnings. */
import { type Diagnostic, findingsText } from '#contract/deployments/diagnostics.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Output } from '../terminal/output.ts';
import { safeText } from '../terminal/safe-text.ts';

const heads: Readonly<Record<Diagnostic['severity'], string>> = {
  error: 'Error',
  check: 'Failed check',
  warning: 'Warning',
};

/** All of them, with the steps in whose logs they are. */
export async function showDiagnostics(output: Output, { diagnostics = [] }: Deployment): Promise<void> {
  for (const { severity, step, text } of diagnostics) {
    await output.line();
    await output.line(`${heads[severity]} in ${step}`);
    for (const line of safeText(text).split('\n')) await output.line(line === '' ? '' : `  ${line}`);
  }
}

/** Diagnostics besides the reason of a failure, in one line; empty if there are none. */
export async function showFindings(
  output: Output,
  id: string,
  { diagnostics = [] }: Deployment,
): Promise<void> {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const parts = [errors > 1 ? `${errors} errors` : '', findingsText(diagnostics)].filter(
    (part) => part !== '',
  );
  if (parts.length > 0) await output.line(`${parts.join(', ')}: envarium deployments show ${id}`);
}
